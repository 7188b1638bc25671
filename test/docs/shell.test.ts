import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommand, shellCommandsOf } from './shell.ts';

for (const [line, words, outputFile] of [
  ['image-watcher lint a.yaml   # a comment', ['image-watcher', 'lint', 'a.yaml']],
  ['image-watcher import keel > policies.yaml', ['image-watcher', 'import', 'keel'], 'policies.yaml'],
  [`curl -d '{"a": "#b"}' "x y"z http://a/#b`, ['curl', '-d', '{"a": "#b"}', 'x yz', 'http://a/#b']],
  ['a | b; c', ['a']],
  ['a < b c', ['a', 'c']],
  ['export X=$(openssl rand -hex 24)', ['export', 'X=$(openssl rand -hex 24)']],
  ['# nothing', []],
] as const) {
  test(`the line "${line}" is read as a shell reads it`, () =>
    assert.deepEqual(readCommand(line), { words, ...(outputFile !== undefined && { outputFile }) }));
}

test('the parser of shell commands reads continued lines and here-documents', () => {
  const script = "a b \\\n  c\n\nkubectl apply -f - <<'YAML' > out\nkind: X\n# y\nYAML\nd\n";
  assert.deepEqual(shellCommandsOf(script), [
    { words: ['a', 'b', 'c'] },
    { words: ['kubectl', 'apply', '-f', '-'], outputFile: 'out' },
    { words: ['d'] },
  ]);
});
