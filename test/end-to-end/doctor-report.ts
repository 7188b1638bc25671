/** What the doctor reports, for tests: run as a user of a kubeconfig, and awaited. */
import assert from 'node:assert/strict';
import type { Finding, Level } from '../../src/service/doctor/finding.ts';
import { runCommand } from '../cli/run-command.ts';
import { waitFor } from '../harness/wait-for.ts';
import type { Service } from './world.ts';

export interface Report {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

/** Runs the command as a user of the kubeconfig. */
export async function examine(service: Service, kubeconfig: string, ...more: string[]): Promise<Report & { readonly code: number }> {
  const target = ['--server', service.operationsUrl, '--insecure', '--kubeconfig', kubeconfig, '--output', 'json'];
  const { code, out, err } = await runCommand('doctor', [...target, ...more]);
  assert.equal(err, '');
  return { code, ...(JSON.parse(out) as Report) };
}

function has({ findings }: Report, line: string, level: Level, message: RegExp): boolean {
  return findings.some((finding) => finding.line === line && finding.level === level && message.test(finding.message));
}

export function assertHas(report: Report, line: string, level: Level, message: RegExp): void {
  assert.ok(has(report, line, level, message), `no ${level} ${line} ${message}: ${JSON.stringify(report.findings, undefined, 1)}`);
}

/** Reports are shared for some seconds, so that a fault shows with a later one. */
export async function waitForLines(
  report: () => Promise<Report>,
  lines: readonly (readonly [line: string, level: Level, message: RegExp])[],
): Promise<Report> {
  let last: Report | undefined;
  const all = async () => {
    const current = (last = await report());
    return lines.every(([line, level, message]) => has(current, line, level, message)) && current;
  };
  return waitFor('the lines to be reported', all, { intervalMs: 500 }).catch((cause: unknown) => {
    const missing = lines.filter(([line, level, message]) => last === undefined || !has(last, line, level, message));
    throw new Error(`not reported: ${missing.map(String).join(' and ')}; but ${JSON.stringify(last?.findings, undefined, 1)}`, { cause });
  });
}
