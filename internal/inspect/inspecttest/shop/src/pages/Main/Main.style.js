export default {
  'btn-primary': {
    root: {
      backgroundColor: '#4263eb',
      borderRadius: 4,
    },
    text: { color: '#ffffff' },
  },
};
