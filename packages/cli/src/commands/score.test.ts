import { describe, expect, it } from 'vitest';
import { runIn } from '../host.fixture.ts';

const head =
  'id,source,year,gpu,n_gpus,layers,hidden,ffn_hidden,ffn_act,heads,vocab,seq,global_batch,micro_batch,dp,tp,pp,vpp,cp,zero_fsdp,recompute,precision,framework,step_time_s,experts';
const runs = [
  head,
  'a-1,one,2025,H100-80GB-SXM,8,12,2048,5632,swiglu,16,32000,2048,32,2,8,1,1,1,1,ZeRO-1,none,BF16,NeMo,0.5,',
  'b-1,two,2025,H100-80GB-SXM,8,12,2048,5632,swiglu,16,32000,2048,32,1,4,2,1,1,1,ZeRO-1,none,BF16,NeMo,0.6,',
  'b-2,two,2025,H100-80GB-SXM,8,12,2048,5632,swiglu,16,32000,2048,32,1,4,2,1,1,1,ZeRO-1,none,BF16,NeMo,0.6,8',
  '',
].join('\n');
const files = { 'runs.csv': runs, 'out.csv': 'id,reason\na-1,"seen twice, count once"\n' };

describe('meshwright score', () => {
  it('answers with the mean error, then sources, then what is not priced', async () => {
    const { code, out, err } = await runIn(['score', 'runs.csv'], { files });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [answer, , table] = out.split('\n');
    expect(answer).toMatch(/^2 rows priced: mean error [\d.]+ %, median [\d.]+ %, bias -?[\d.]+ %$/);
    expect(table).toMatch(/^source +rows +skipped +mean %/);
    expect(out).toMatch(/dimensions-missing +1 +dimensions of the model are not given/);
  });

  it('gives the object of the contract', async () => {
    const { out } = await runIn(['score', 'runs.csv', '--json'], { files });
    const score = JSON.parse(out);
    expect(score).toMatchObject({ schema: 'meshwright.score/1', skipped: { 'dimensions-missing': 1 } });
    expect(Object.keys(score)[0]).toBe('schema');
    const [first, , last] = score.rows;
    expect(first.low).toBeLessThanOrEqual(first.predictedSeconds);
    expect(first.error).toBeCloseTo(first.predictedSeconds / 0.5 - 1, 12);
    expect(first.assumed).toContain('key and value heads: as many as query heads');
    expect(last).toMatchObject({ id: 'b-2', skipped: 'dimensions-missing', assumed: [] });
    expect(score.bySource.map((each: { source: string }) => each.source)).toEqual(['one', 'two']);
    expect(score.nullModel.bySource).toHaveLength(2);
  });

  it('leaves out what a file of exclusions names', async () => {
    const { out } = await runIn(['score', 'runs.csv', '--exclude', 'out.csv', '--json'], { files });
    expect(JSON.parse(out).rows[0]).toMatchObject({ skipped: 'excluded', detail: 'seen twice, count once' });
  });

  it('names columns that are absent', async () => {
    const { code, err } = await runIn(['score', 'runs.csv'], { files: { 'runs.csv': 'id,gpu\n1,H100\n' } });
    expect(code).toBe(2);
    expect(err).toContain('the column n_gpus is absent');
  });

  it('ends with 1 when no row can be priced', async () => {
    const { code, out } = await runIn(['score', 'runs.csv'], { files: { 'runs.csv': `${head}\n` } });
    expect(code).toBe(1);
    expect(out).toMatch(/^no row could be priced/);
  });
});
