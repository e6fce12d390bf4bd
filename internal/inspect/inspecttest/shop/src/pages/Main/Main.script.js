import * as _ from 'lodash';

export default function addPageScript(App, Page) {
  const setTimeout = App.lib.setTimeout;
  let saved = false;

  Page.onReady = function () {
    Page.Variables.users.invoke();
  };

  function confirmSaved(order) {
    if (order.ok) {
      Page.Widgets.label3.caption = 'Saved';
      setTimeout(function () {
        Page.App.Actions.appNotification.invoke({ message: 'Saved' });
      }, 2000);
    }
    saved = true;
  }

  Page.button1Tap = async function ($event, widget) {
    const answer = await fetch('/api/orders', { method: 'POST' });
    Page.Variables.saveOrder.invoke();
    confirmSaved(answer);
  };
}
