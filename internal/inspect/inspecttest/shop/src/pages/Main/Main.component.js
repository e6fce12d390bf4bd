import React from 'react';

import BasePage from '@wavemaker/app-rn-runtime/runtime/base-page.component';
import { useWatcher } from '@wavemaker/app-rn-runtime/runtime/watcher';
import WmButton from '@wavemaker/app-rn-runtime/components/basic/button/button.component';
import WmLabel from '@wavemaker/app-rn-runtime/components/basic/label/label.component';
import WmLeftPanel from '@wavemaker/app-rn-runtime/components/page/left-panel/left-panel.component';
import WmList from '@wavemaker/app-rn-runtime/components/data/list/list.component';
import WmListTemplate from '@wavemaker/app-rn-runtime/components/data/list/list-template/list-template.component';
import WmPage from '@wavemaker/app-rn-runtime/components/page/page.component';
import WmPageContent from '@wavemaker/app-rn-runtime/components/page/page-content/page-content.component';
import WmTabbar from '@wavemaker/app-rn-runtime/components/page/tabbar/tabbar.component';

import addPageScript from './Main.script';
import styles from './Main.style';
import getVariables from './Main.variables';

const Listtemplate1 = React.memo(({ $item, $index, list, fragment }) => {
  const [listener] = React.useState({
    onComponentInit: c => {
      fragment.onComponentInit(c);
    },
  });
  return (
    <WmListTemplate name="listtemplate1" listener={listener}>
      <WmLabel
        name="label1"
        caption={$item.name}
        id={'repeat_item_' + $index + '_label1'}
        listener={listener}></WmLabel>
    </WmListTemplate>
  );
});

const PC_Page_content1 = ({ fragment }) => {
  const { watch } = useWatcher(fragment.watcher);
  return (
    <WmPageContent columnwidth={12} name="page_content1" listener={fragment}>
      <WmList
        name="list1"
        dataset={watch(() => fragment.Variables.users.dataSet)}
        renderItem={($item, $index, list) => (
          <Listtemplate1 $item={$item} $index={$index} list={list} fragment={fragment} />
        )}
        listener={fragment}></WmList>
      <WmButton
        caption="Save order"
        name="button1"
        onTap={($event, widget) => {
          fragment.button1Tap($event, widget);
        }}
        classname="btn-primary"
        listener={fragment}></WmButton>
      <WmButton
        caption="Next"
        name="button2"
        onTap={() => {
          fragment.Actions.goToPage_Checkout.invoke();
        }}
        onLongtap={() => {
          fragment.App.Actions.appNotification.invoke();
        }}
        styles={{
          root: { backgroundColor: '#888888', paddingTop: 12 },
          text: {},
        }}
        classname="btn-primary icon3"
        listener={fragment}></WmButton>
      <WmLabel name="label3" caption="Ready" classname="h4" listener={fragment}></WmLabel>
    </WmPageContent>
  );
};

const PC_Mainpage = ({ fragment }) => {
  return (
    <WmPage name="mainpage" listener={fragment}>
      <>
        <WmLeftPanel content="leftnav" name="left_panel1" listener={fragment}></WmLeftPanel>
      </>
      <PC_Page_content1 fragment={fragment} />
      <WmTabbar
        name="mobile_tabbar1"
        activePage={fragment.appConfig.currentPage?.pageName}
        listener={fragment}></WmTabbar>
    </WmPage>
  );
};

export default class MainPage extends BasePage {
  components;

  constructor(props) {
    super(props);
    this.name = 'Main';
  }

  init() {
    const data = getVariables(this.proxy);
    this.Variables = Object.assign(this.Variables, data.Variables);
    addPageScript(this.App, this.proxy);
  }

  renderPage() {
    const fragment = this.proxy;
    return <PC_Mainpage fragment={fragment} />;
  }
}
