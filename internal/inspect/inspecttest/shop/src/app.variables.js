export default App => {
  return {
    Variables: {},
    Actions: {
      appNotification: new NotificationAction({
        name: 'appNotification',
        _context: App,
        operation: 'toast',
        paramProvider: () => ({ class: 'Error', text: 'Something happened' }),
      }),
      logoutAction: new LogoutAction({
        name: 'logoutAction',
        _context: App,
        paramProvider: () => ({}),
        redirectTo: 'Login',
      }),
    },
  };
};
