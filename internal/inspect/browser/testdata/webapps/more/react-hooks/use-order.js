import { useCallback, useState } from 'react';
import { log } from '../../log.js';

export function useOrder(id) {
  const [saved, setSaved] = useState(false);
  const leave = useCallback(() => log('left'), []);
  const save = useCallback(
    async () => { /*HERE*/
      log('saved ' + id);
      setSaved(true);
    },
    [id],
  );
  return { saved, leave, save };
}
