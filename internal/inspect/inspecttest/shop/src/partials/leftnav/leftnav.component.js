import React from 'react';

const PC_Leftnav = ({ fragment }) => {
  return (
    <WmPartial name="leftnav" listener={fragment}>
      <WmAnchor
        caption="Log out"
        name="anchor1"
        onTap={() => {
          fragment.App.Actions.logoutAction.invoke();
        }}
        listener={fragment}></WmAnchor>
    </WmPartial>
  );
};
export default PC_Leftnav;
