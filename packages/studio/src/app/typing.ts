/** Letters belong to fields while one is typed into. */
export const isTyping = ({ target }: Event): boolean =>
  target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
