/** @file The frame of the page: navigation, what can be done with the scenario, the view, keys. */
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentType, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useAnswer } from '../parts/answer.tsx';
import { Copy } from '../parts/copy.tsx';
import { Pending } from '../parts/pending.tsx';
import { addressOf, type View } from '../scenario/link.ts';
import { PlanView } from '../views/plan/view.tsx';
import { Palette } from './palette.tsx';
import type { Store } from './store.ts';
import { isTyping } from './typing.ts';
import type { ViewProps } from './view-props.ts';

interface OfferedView {
  readonly view: View;
  readonly name: string;
  /** Only the first view is there at once; the others come when they are opened. */
  load(): Promise<ComponentType<ViewProps>>;
}

const viewTable: readonly OfferedView[] = [
  { view: 'plan', name: 'Plan', load: async () => PlanView },
  { view: 'steps', name: 'Step through', load: async () => (await import('../views/steps/view.tsx')).StepsView },
  { view: 'layout', name: 'Layout', load: async () => (await import('../views/layout/view.tsx')).LayoutView },
  { view: 'timeline', name: 'Timeline', load: async () => (await import('../views/timeline/view.tsx')).TimelineView },
  { view: 'memory', name: 'Memory', load: async () => (await import('../views/memory.tsx')).MemoryView },
  { view: 'compare', name: 'Compare', load: async () => (await import('../views/compare/view.tsx')).CompareView },
  { view: 'whatif', name: 'What if', load: async () => (await import('../views/what-if/view.tsx')).WhatIfView },
  { view: 'run', name: 'Run', load: async () => (await import('../views/run/view.tsx')).RunView },
  { view: 'learn', name: 'Learn', load: async () => (await import('../views/learn/view.tsx')).LearnView },
];

/** The page. Run is there only where a server can run. */
export function Shell({ store, server }: ViewProps): VNode {
  const help = useSignal(false);
  const palette = useSignal(false);
  const { view } = store.place.value;
  const offered = viewTable.filter((each) => each.view !== 'run' || server !== undefined);
  const shown = offered.find((each) => each.view === view) ?? offered[0];
  useDrops(store);
  const hasPlan = store.planned.value !== undefined;
  useEffect(() => {
    if (hasPlan) void loadCommands();
  }, [hasPlan]);
  useKeys(
    store,
    offered.map((each) => each.view),
    help,
    palette,
  );
  return (
    <div class="page">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <Header store={store} offered={offered} shown={shown?.view} palette={palette} help={help} />
      {palette.value && (
        <LaterPalette
          store={store}
          offered={offered}
          showKeys={() => void (help.value = true)}
          close={() => void (palette.value = false)}
        />
      )}
      {help.value && <LaterHelp close={() => void (help.value = false)} />}
      {store.notice.value !== undefined && (
        <div class="notice" role="status">
          <p>{store.notice.value}</p>
          <button type="button" onClick={() => void (store.notice.value = undefined)}>
            Close
          </button>
        </div>
      )}
      <main id="main" tabIndex={-1}>
        {shown === undefined || shown.view === 'plan' ? (
          <PlanView store={store} server={server} />
        ) : (
          <Later key={shown.view} offered={shown} store={store} server={server} />
        )}
      </main>
    </div>
  );
}

interface HeaderProps {
  readonly store: Store;
  readonly offered: readonly OfferedView[];
  readonly shown: View | undefined;
  readonly palette: Signal<boolean>;
  readonly help: Signal<boolean>;
}

const Header = ({ store, offered, shown, palette, help }: HeaderProps): VNode => (
  <header>
    <h1>Meshwright</h1>
    <nav aria-label="Views">
      {offered.map((each) => (
        <button
          key={each.view}
          type="button"
          aria-current={each.view === shown ? 'page' : undefined}
          onClick={() => store.open(each.view)}
        >
          {each.name}
        </button>
      ))}
    </nav>
    <div class="actions">
      <Copy words="Share" said="Link copied" text={() => addressOf(store.place.value)} />
      <button type="button" disabled={!store.canUndo.value} onClick={() => store.undo()}>
        Undo
      </button>
      <button type="button" aria-expanded={palette.value} onClick={() => void (palette.value = !palette.value)}>
        Commands
      </button>
      <ThemeButton />
      <button type="button" aria-expanded={help.value} onClick={() => void (help.value = !help.value)}>
        Keys
      </button>
    </div>
  </header>
);

/** Files may be dropped anywhere. */
function useDrops(store: Store): void {
  useLayoutEffect(() => {
    const over = (event: DragEvent): void => event.preventDefault();
    const drop = (event: DragEvent): void => {
      const [file] = event.dataTransfer?.files ?? [];
      if (!file) return;
      event.preventDefault();
      void import('./drop.ts').then(({ readFile }) => readFile(file, store));
    };
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
    };
  }, [store]);
}

/** A view that is loaded when it is opened. */
function Later({ offered, store, server }: ViewProps & { readonly offered: OfferedView }): VNode {
  const loaded = useAnswer(offered.view, async () => ({ View: await offered.load() }));
  return (
    <Pending known={loaded.value} words={`Opening ${offered.name}.`} height={500}>
      {({ View: Shown }) => <Shown store={store} server={server} />}
    </Pending>
  );
}

interface PaletteProps {
  readonly store: Store;
  readonly offered: readonly OfferedView[];
  showKeys(): void;
  close(): void;
}

const loadCommands = () => import('./commands.ts');

/** The field is there at once: letters that are typed right behind its key are meant for it. Its commands are loaded when it is
 * opened, or once there is a plan. */
function LaterPalette({ store, offered, showKeys, close }: PaletteProps): VNode {
  const loaded = useAnswer('commands', loadCommands).value.value;
  return <Palette commands={loaded?.commandsOf(store, offered, showKeys)} close={close} />;
}

/** The keys, loaded when somebody asks for them. */
function LaterHelp({ close }: { close(): void }): VNode {
  const loaded = useAnswer('help', async () => import('./help.tsx'));
  return (
    <Pending known={loaded.value} words="Opening the keys." height={400}>
      {({ Help }) => <Help close={close} />}
    </Pending>
  );
}

type Theme = 'system' | 'light' | 'dark';
const nextTheme: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };

function ThemeButton(): VNode {
  const theme = useSignal<Theme>((localStorage.getItem('meshwright-theme') as Theme | null) ?? 'system');
  useLayoutEffect(() => {
    const { value } = theme;
    if (value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = value;
    localStorage.setItem('meshwright-theme', value);
  }, [theme.value]);
  return (
    <button type="button" onClick={() => void (theme.value = nextTheme[theme.value])}>
      Theme<span class="roomy">{`: ${theme.value}`}</span>
    </button>
  );
}

/** Keys that work everywhere: g and a digit opens a view, / or Ctrl+K lists what can be done, u undoes, ? shows the keys. They
 * are answered from the first paint on. */
function useKeys(store: Store, offered: readonly View[], help: Signal<boolean>, palette: Signal<boolean>): void {
  const waiting = useRef(false);
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        palette.value = !palette.value;
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const after = waiting.current;
      waiting.current = event.key === 'g';
      const view = offered[Number(event.key) - 1];
      if (after && view !== undefined) {
        waiting.current = false;
        event.stopImmediatePropagation();
        store.open(view);
      } else if (event.key === '/') {
        event.preventDefault();
        palette.value = true;
      } else if (event.key === 'u') store.undo();
      else if (event.key === '?') help.value = !help.value;
      else if (event.key === 'Escape') {
        help.value = false;
        palette.value = false;
      }
    };
    addEventListener('keydown', listen, { capture: true });
    return () => removeEventListener('keydown', listen, { capture: true });
  }, [offered.length]);
}
