/** Kinds of slices, in words. */
export const kindWords: Readonly<Record<string, string>> = {
  forward: 'forward',
  backward: 'backward',
  optimizer: 'norm and optimizer',
  collective: 'collective',
  send: 'send or receive',
  host: 'host',
};
