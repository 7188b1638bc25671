/** What is in the lists of the log is written somewhere; that nothing else is, the types see to. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { logFields } from '../../../src/service/telemetry/log-fields.ts';
import { logMessages } from '../../../src/service/telemetry/log-messages.ts';

const src = join(import.meta.dirname, '../../../src');
const lists = new Set(['service/telemetry/log-fields.ts', 'service/telemetry/log-messages.ts']);
const texts = globSync('**/*.ts', { cwd: src })
  .filter((file) => !lists.has(file.replaceAll('\\', '/')))
  .map((file) => readFileSync(join(src, file), 'utf8'));
const writers = texts.filter((text) => /logger/.test(text)).join('\n');

test('every log message is documented', () => {
  const unwritten = Object.keys(logMessages).filter((message) => ![`'${message}'`, `"${message}"`].some((text) => writers.includes(text)));
  assert.deepEqual(unwritten, []);
});

/** Of pino itself, and of the addresses of the listeners. */
const elsewhere = new Set(['level', 'time', 'service', 'msg', 'span_id', 'trace_id']);

test('every log field is documented', () => {
  const unwritten = Object.keys(logFields).filter((field) => !elsewhere.has(field) && !new RegExp(`\\b${field}\\b`).test(writers));
  assert.deepEqual(unwritten, []);
});
