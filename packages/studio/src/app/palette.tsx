/** @file The command palette: type a few letters of what is to be done. */
import { useSignal } from '@preact/signals';
import type { RefObject, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Command, matching } from './matching.ts';

/** Commands that are listed at once. */
const LISTED = 8;

interface PaletteProps {
  /** Undefined while they are loaded. */
  readonly commands: readonly Command[] | undefined;
  close(): void;
}

/** Before the next key: letters typed right behind Ctrl+K are meant for the field. The focus goes back where it was. */
function useFocus(): RefObject<HTMLInputElement | null> {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    input.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return input;
}

export function Palette({ commands, close }: PaletteProps): VNode {
  const typed = useSignal('');
  const at = useSignal(0);
  const input = useFocus();
  const found = matching(commands ?? [], typed.value);
  const first = Math.max(0, Math.min(at.value - LISTED + 1, found.length - LISTED));
  const listed = found.slice(first, first + LISTED);
  const run = (command: Command | undefined): void => {
    if (!command) return;
    close();
    command.run();
  };
  const entered = useSignal(false);
  useLayoutEffect(() => {
    if (commands !== undefined && entered.value) run(found[0]);
  }, [commands !== undefined]);
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => void (at.value = Math.min(found.length - 1, at.value + 1)),
    ArrowUp: () => void (at.value = Math.max(0, at.value - 1)),
    // Before there are any: runs the first that is found then.
    Enter: () => (commands === undefined ? void (entered.value = true) : run(found[at.value])),
    Escape: close,
  };
  return (
    <section class="palette" aria-label="Commands">
      <input
        ref={input}
        role="combobox"
        aria-label="What to do"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={found.length > 0 ? `command-${at.value}` : undefined}
        placeholder="Open, select, step through, copy ..."
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={(event) => {
          const does = keys[event.key];
          if (!does) return;
          event.preventDefault();
          event.stopPropagation();
          does();
        }}
      />
      <List listed={listed} first={first} at={at.value} run={run} />
      <p class="quiet" role="status">
        {stateWords(commands, found)}
      </p>
    </section>
  );
}

function stateWords(commands: readonly Command[] | undefined, found: readonly Command[]): string {
  if (commands === undefined) return 'Opening the commands.';
  return found.length === 0 ? 'Nothing is called so.' : `${found.length} found`;
}

interface ListProps {
  readonly listed: readonly Command[];
  /** Place of the first of them among all that were found. */
  readonly first: number;
  readonly at: number;
  run(command: Command): void;
}

const List = ({ listed, first, at, run }: ListProps): VNode => (
  <div id="commands" role="listbox" aria-label="Commands">
    {listed.map((command, index) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: keys are answered by the field, which keeps the focus
      <div
        key={command.words}
        id={`command-${first + index}`}
        role="option"
        tabIndex={-1}
        aria-selected={first + index === at}
        onClick={() => run(command)}
      >
        {command.words}
      </div>
    ))}
  </div>
);
