/** @file Whether the page is as narrow as a phone. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

const query = '(max-width: 760px)';

/** True below 760 pixels; follows the window. */
export function useNarrow(): boolean {
  const narrow = useSignal(matchMedia(query).matches);
  useLayoutEffect(() => {
    const media = matchMedia(query);
    const listen = (): void => void (narrow.value = media.matches);
    media.addEventListener('change', listen);
    return () => media.removeEventListener('change', listen);
  }, []);
  return narrow.value;
}
