import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codes } from '@meshwright/core/errors';
import { programJsonSchema } from '@meshwright/core/program';
import { describe, expect, it } from 'vitest';
import { generatedPages } from '../../tools/generate-docs.mjs';
import { root } from '../../tools/ready.mjs';

describe('generated pages', () => {
  const pages = Object.entries(generatedPages({ codes, programJsonSchema }));
  it.each(pages)('%s is what the code says (else: node tools/generate-docs.mjs)', (path, text) => {
    const file = join(root, path);
    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe(text);
  });
});
