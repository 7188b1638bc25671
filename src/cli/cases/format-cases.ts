/** The results of cases for people, and for CI systems (JUnit). */
import { paintFor, type Terminal } from '../../service/command-line/command.ts';
import { countOf, fit } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';
import type { CaseResult } from './run-case.ts';

/** One line for each case; below a failed one, what was found instead. */
export function formatCases(results: readonly CaseResult[], terminal: Terminal): string {
  const paint = paintFor(terminal);
  const lines = results.flatMap(({ name, policy, failures, found }) => {
    const isGood = failures.length === 0;
    const head = `${paint(isGood ? 'green' : 'red', isGood ? 'ok  ' : 'FAIL')} ${printable(`${policy}: ${name}`)}`;
    return isGood
      ? [head]
      : [head, ...failures.map((failure) => `     ${printable(failure)}`), `     ${printable(`${found.reason}: ${found.message}`)}`];
  });
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const summary = `${countOf(results.length, 'case')}: ${failed === 0 ? 'all as expected' : `${failed} not as expected`}`;
  return fit(`${[...lines, summary].join('\n')}\n`, terminal);
}

/** The results as a JUnit report, one suite for each policy. */
export function formatJUnit(results: readonly CaseResult[]): string {
  const suites = [...Map.groupBy(results, ({ policy }) => policy)].map(([policy, cases]) => {
    const failed = cases.filter(({ failures }) => failures.length > 0).length;
    const tests = cases.map(({ name, failures, found }) => {
      const head = `    <testcase classname="${escape(policy)}" name="${escape(name)}"`;
      if (failures.length === 0) return `${head}/>`;
      const text = escape(`${found.reason}: ${found.message}`);
      return `${head}>\n      <failure message="${escape(failures.join('; '))}">${text}</failure>\n    </testcase>`;
    });
    return `  <testsuite name="${escape(policy)}" tests="${cases.length}" failures="${failed}">\n${tests.join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for XML, which has no way to write most control characters. */
function escape(text: string): string {
  return printable(text).replaceAll(/[&<>"]/g, (found) => entities[found] ?? '');
}
