/** @file What may be wider than the page: scrolled by itself, by keyboard as well. */
import type { ComponentChildren, VNode } from 'preact';

interface ScrollProps {
  /** What is in it, read aloud. */
  readonly name: string;
  readonly children: ComponentChildren;
}

export const Scroll = ({ name, children }: ScrollProps): VNode => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keyboard (WCAG 2.1.1)
  <section class="scroll" aria-label={name} tabIndex={0}>
    {children}
  </section>
);
