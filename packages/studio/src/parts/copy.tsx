/** @file A button that copies. */
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';

/** Copies a text and says so; where the clipboard is closed it is shown to be copied by hand. */
export function Copy({ words, said, text }: { readonly words: string; readonly said: string; text(): string }): VNode {
  const state = useSignal<'idle' | 'copied' | { readonly text: string }>('idle');
  const { value } = state;
  return (
    <span class="copy">
      <button
        type="button"
        onClick={() => {
          const copied = text();
          navigator.clipboard
            .writeText(copied)
            .then(() => void (state.value = 'copied'))
            .catch(() => void (state.value = { text: copied }));
        }}
      >
        {words}
      </button>
      <span role="status">{value === 'copied' ? said : ''}</span>
      {typeof value === 'object' && <textarea aria-label={words} readOnly value={value.text} rows={3} />}
    </span>
  );
}
