export default function addPageScript(App, Page) {
  Page.button1Tap = function ($event, widget) {
    const x = ;
  };
}
