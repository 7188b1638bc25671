import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Check, Finding, Level } from '../../../src/service/doctor/finding.ts';

const seen = new Set<string>();

/** What a check finds; each finding has to be declared, and to say what to do. */
export function evaluate<Facts>(check: Check<Facts>, facts: Facts): readonly Finding[] {
  const findings = check.evaluate(facts);
  for (const { line, level, message, action } of findings) {
    seen.add(line);
    assert.ok(
      check.lines.some((name) => line === `${check.id}/${name}`),
      `${line} is not declared`,
    );
    assert.ok(message.length > 0 && (action !== undefined || level === 'ok' || level === 'skipped'), `${line} does not say what to do`);
  }
  return findings;
}

/** One of the findings of the line has this level and message. */
export function assertLine(findings: readonly Finding[], line: string, level: Level, message: RegExp): void {
  const found = findings.filter((finding) => finding.line === line);
  assert.ok(
    found.some((finding) => finding.level === level && message.test(finding.message)),
    JSON.stringify(found.length > 0 ? found : findings),
  );
}

/** Registers a test that every line which the checks declare was in a test before. */
export function testAllSeen(...checks: readonly Pick<Check<never>, 'id' | 'lines'>[]): void {
  test('every line that a check of the doctor declares is evaluated by a test of this file', () => {
    const declared = checks.flatMap(({ id, lines }) => lines.map((line) => `${id}/${line}`));
    assert.deepEqual(
      declared.filter((line) => !seen.has(line)),
      [],
    );
  });
}
