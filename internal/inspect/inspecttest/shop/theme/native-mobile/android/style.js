export default {
    "app-button": {
        "root": {
            "borderRadius": 32,
            "paddingTop": 8
        },
        "badge": {
            "backgroundColor": "#6c757d"
        }
    },
    "btn-default": {
        "root": {
            "backgroundColor": "#eeeeee"
        }
    },
    "app-label": {
        "root": {
            "color": "#888"
        }
    }
};
