import { NavigationAction } from '@wavemaker/app-rn-runtime/actions/navigation-action';
import { LiveVariable } from '@wavemaker/app-rn-runtime/variables/live-variable';
import { ServiceVariable } from '@wavemaker/app-rn-runtime/variables/service-variable';

export default Page => {
  return {
    Variables: {
      users: new LiveVariable({
        name: 'users',
        _context: Page,
        operation: 'read',
        liveSource: 'hrdb',
        type: 'User',
        isList: true,
        paramProvider: () => ({}),
      }),
      saveOrder: new ServiceVariable({
        name: 'saveOrder',
        _context: Page,
        serviceType: 'OpenAPIService',
        operation: 'createOrder',
        service: 'shop',
        paramProvider: () => ({ id: Page.eval(() => Page.Widgets.list1.selecteditem.id) }),
        onSuccess: (variable, data, options) => {
          Page.Actions.goToPage_Checkout.invoke();
        },
      }),
    },
    Actions: {
      goToPage_Checkout: new NavigationAction({
        name: 'goToPage_Checkout',
        _context: Page,
        operation: 'gotoPage',
        paramProvider: () => ({
          pageName: 'Checkout',
        }),
      }),
    },
  };
};
