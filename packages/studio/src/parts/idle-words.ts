/** Why computing is idle, in words. */
export const idleWords: Readonly<Record<string, string>> = {
  pipelineSend: 'a transfer between stages runs',
  bubble: 'another stage is not ready (bubble)',
  host: 'the host has not issued it',
  tensor: 'a tensor exchange runs',
  data: 'a data exchange runs',
  context: 'a context exchange runs',
  expert: 'an expert exchange runs',
  offload: 'offload',
};
