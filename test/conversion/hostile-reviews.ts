/** ConversionReviews that nobody honest sends: each costs as much as its bytes can be made to. */
import { deflateRawSync } from 'node:zlib';
import { savedAnnotation } from '../../src/conversion/specs/saved-v1.ts';

const v1alpha1 = 'operator.technomad.dev/v1alpha1';
const head =
  '{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":"operator.technomad.dev/v1","objects":[';

/** `part`, as often as it fits into so many bytes. */
function fill(bytes: number, part: (index: number) => string, end = ']}}'): string {
  const parts: string[] = [];
  for (let length = head.length + end.length, index = 0; ; index++) {
    const nextPart = part(index);
    length += nextPart.length + 1;
    if (length > bytes) break;
    parts.push(nextPart);
  }
  return head + parts.join() + end;
}

/** A policy whose annotation unpacks to two megabytes, a thousand times as long as itself. */
function packed(): string {
  const saved = `{"spec":{"image":"a/b","targets":[${'{},'.repeat(690_000)}{}]}}`;
  const text = `deflate:${deflateRawSync(saved).toString('base64')}`;
  const metadata = { name: 'a', namespace: 'b', annotations: { [savedAnnotation]: text } };
  return JSON.stringify({ apiVersion: v1alpha1, kind: 'ImagePolicy', metadata, spec: { repository: 'a/b' } });
}

/** One of each kind, as long as allowed. */
export function hostileReviews(bytes: number): Record<string, Buffer> {
  const bomb = packed();
  const texts = {
    'many empty objects': fill(bytes, () => '{}'),
    'many lists in one object': fill(bytes, () => '[]', ']}]}}').replace('"objects":[', '"objects":[{"spec":['),
    'a shape for each': fill(bytes, (index) => `{"${index.toString(36)}":0}`),
    'many small policies': fill(bytes, () => `{"apiVersion":"${v1alpha1}"}`),
    'many keys': fill(bytes, (index) => `"${index.toString(36)}":0`, '}]}}').replace('"objects":[', '"objects":[{'),
    'compressed policies': fill(bytes, () => bomb),
    'a few compressed policies': fill(Math.min(bytes, 120 * 1024), () => bomb),
    'very deep': head + '['.repeat(bytes - head.length),
    'one long text': fill(bytes, () => `{"apiVersion":"${v1alpha1}","spec":{"repository":"${'\\u0001'.repeat((bytes - 400) / 6)}"}}`),
    garbage: 'x'.repeat(bytes),
  };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
}
