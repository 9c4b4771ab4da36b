import { describe, expect, it } from 'vitest';
import { runIn } from '../host.fixture.ts';
import type { Host } from '../host.ts';
import { fileLoader } from './files.ts';

const hostThat = (code: string): Host =>
  ({
    read: () => {
      throw Object.assign(new Error(code), { code });
    },
  }) as unknown as Host;

describe('files that a job names', () => {
  it.each([
    ['ENOENT', 'does not exist'],
    ['EACCES', 'may not be read by this user'],
    ['EISDIR', 'is a folder'],
    ['EIO', 'cannot be read'],
  ])('come back with the reason when they cannot be read: %s', (code, unreadable) => {
    expect(fileLoader(hostThat(code))('cluster.yaml', 'job.yaml')).toEqual({ unreadable });
  });
  it('are refused at their place in the job', async () => {
    const job = 'model: llama-3.1-8b\ncluster: ./cluster.yaml\nbatch: {sequences: 8, length: 2048}\n';
    const { code, err } = await runIn(['show', 'job.yaml'], { files: { 'job.yaml': job } });
    expect(code).toBe(2);
    expect(err).toContain('job.yaml:2:10  FILE_NOT_FOUND  cluster: "./cluster.yaml" does not exist.');
  });
});
