import React from 'react';
import WmButton from '@wavemaker/app-rn-runtime/components/basic/button/button.component';
import addPageScript from './Checkout.script';

const PC_Page_content1 = ({ fragment }) => {
  return (
    <WmPageContent name="page_content1" listener={fragment}>
      <WmButton
        caption="Pay now"
        name="button1"
        onTap={($event, widget) => {
          fragment.button1Tap($event, widget);
        }}
        listener={fragment}></WmButton>
    </WmPageContent>
  );
};

export default class CheckoutPage extends BasePage {
  renderPage() {
    return <PC_Page_content1 fragment={this.proxy} />;
  }
}
