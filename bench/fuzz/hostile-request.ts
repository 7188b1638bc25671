import { hostileBodies, megabyte } from '../../test/service/receive/providers/hostile-bodies.ts';
import type { Sample } from '../../test/service/receive/providers/read-samples.ts';
import type { FuzzRequest } from './random-request.ts';
import type { Random } from './random.ts';

const units = [
  '&',
  'a&',
  '%41',
  '+',
  '[',
  '{"a":',
  '0,',
  '[],',
  '{},',
  '"",',
  '"a":1,',
  'a',
  '/',
  ':',
  '@',
  'é',
  String.raw`\u0061`,
  String.raw`\"`,
  ' ',
] as const;

const knownBodies = hostileBodies();

/** A sample with something in it repeated until it is as large as a body may be: a text of ours, or a piece of its own; or a body of the conformance suite. */
export function hostileRequest(samples: readonly Sample[], random: Random): FuzzRequest {
  const sample = random.pick(samples);
  if (sample === undefined) throw new Error('no samples');
  const asForm = { ...sample.headers, 'content-type': 'application/x-www-form-urlencoded' };
  const headers: Record<string, string> = random.chance(0.2) ? asForm : { ...sample.headers };
  delete headers['content-length'];
  const [, known] = random.pick(knownBodies) ?? [];
  if (known !== undefined && random.chance(0.3)) return { kind: 'blown up', headers, body: known };
  const text = sample.body.toString('utf8');
  const at = random.below(text.length + 1);
  // An entry of a list with its comma is a piece too.
  const unit = random.chance(0.6) ? random.pick(units) : text.slice(at, at + 1 + random.below(400)) || ',';
  const room = megabyte - Buffer.byteLength(text);
  const body = Buffer.from(text.slice(0, at) + unit.repeat(Math.max(0, Math.floor(room / Buffer.byteLength(unit)))) + text.slice(at));
  return { kind: 'blown up', headers, body };
}
