import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPolicies } from '../../../src/service/command-line/policy-documents.ts';

test('no text in a comment begins a line of YAML, whatever its line ends', () => {
  const evil = 'a\nb\r\nc\u0085---\u0085kind: Secret\u2028d\u2029e\u000Bf\u000Cg\u001B[2J';
  const policy = { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name: 'web', namespace: 'shop' }, spec: {} };
  const text = formatPolicies([{ policy, notes: [evil] }], [evil]);
  // YAML 1.1, which kubectl reads, has more line ends than YAML 1.2: https://yaml.org/spec/1.1/#id871136
  const lines = text.split(/[\r\n\u0085\u2028\u2029]/);
  assert.deepEqual(
    lines.filter((line) => /kind: Secret|---/.test(line) && !line.startsWith('# ')),
    [],
  );
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(text, /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/);
});
