// log has an effect, so that no build leaves it out.
export const log = (text) => {
  document.title += ' ' + text;
};
