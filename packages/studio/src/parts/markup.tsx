import type { VNode } from 'preact';

/** A figure that the worker has drawn, as the command writes it. */
export const Markup = ({ svg }: { readonly svg: string }): VNode => (
  <div class="drawn" dangerouslySetInnerHTML={{ __html: svg }} />
);
