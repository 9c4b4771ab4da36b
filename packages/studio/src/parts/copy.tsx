/** @file A button that copies. */
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { copyText } from './clipboard.ts';

interface CopyProps {
  readonly words: string;
  readonly said: string;
  text(): string | Promise<string>;
}

/** Copies a text and says so; where the clipboard is closed it is shown to be copied by hand. */
export function Copy({ words, said, text }: CopyProps): VNode {
  const state = useSignal<'idle' | 'copied' | { readonly text: string }>('idle');
  const { value } = state;
  return (
    <span class="copy">
      <button
        type="button"
        onClick={async () => {
          const made = text();
          // What is there at once is copied at once: some browsers copy within the click only.
          const copied = typeof made === 'string' ? made : await made;
          state.value = (await copyText(copied)) ? 'copied' : { text: copied };
        }}
      >
        {words}
      </button>
      <span role="status">{value === 'copied' ? said : ''}</span>
      {typeof value === 'object' && (
        <textarea aria-label={words} readOnly value={value.text} rows={3} ref={(area) => area?.select()} />
      )}
    </span>
  );
}
