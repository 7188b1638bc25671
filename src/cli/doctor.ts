import { z } from 'zod';
import { type Finding, type Level, type ServiceReport } from '../service/doctor/finding.ts';
import { checks } from '../service/doctor/checks/index.ts';
import { documentation } from '../core/model/reasons.ts';
import { readVersion } from '../service/config/version.ts';
import { apiOptions, callApi } from '../service/command-line/api-client.ts';
import { ApiError } from '../service/command-line/api-error.ts';
import { defineCommand, paintFor, type Terminal, UsageError } from '../service/command-line/command.ts';
import { checkCluster } from './doctor/check-cluster.ts';
import { fit, outputOption, print } from '../service/command-line/output.ts';
import { printable } from '../service/command-line/printable.ts';
import { readGroup } from './resource-group.ts';
import { summaries } from './summaries.ts';

const options = {
  'certificate-days': { value: 'DAYS', about: 'report certificates that end within so many days (default 14)' },
  ...apiOptions,
  ...outputOption,
} as const;

const marks: Readonly<Record<Level, string>> = { ok: '✓', failed: '✗', warning: '!', skipped: '–' };
const colours = { ok: 'green', failed: 'red', warning: 'yellow', skipped: 'gray' } as const;

export const doctor = defineCommand({
  name: 'doctor',
  summary: summaries.doctor,
  about: `Checks a running installation, and says what to do: ✓ as it should be, ✗ act, ! look at it, – not checked. The service reports what only it can reach (you need the right to list imagepolicies in all namespaces); the cluster is checked with your kubeconfig, and nothing is changed. ${documentation}/doctor.md explains each line.

Exit codes: 0 no line is ✗, 1 a line is, 2 wrong usage.`,
  options,
  examples: [
    ['doctor', 'the installation that runs in the cluster of the kubeconfig'],
    ['doctor -o json', 'for programs'],
  ],
  async run({ output, 'certificate-days': within = '14', ...values }, _args, terminal) {
    const days = Number(within);
    if (within.trim() === '' || !Number.isInteger(days) || days < 0 || days > 3_650)
      throw new UsageError('--certificate-days is a number from 0 to 3650');
    const report = await askService(values);
    const cluster = await checkCluster(values, {
      resources: await readGroup(),
      conversion: 'conversion' in report ? report.conversion : { why: 'the service did not report it' },
      warnWithinMs: days * 86_400_000,
    });
    const version = readVersion();
    const found = [
      ...checks.service.evaluate({ version, api: report, cluster: cluster.problem }),
      ...('findings' in report ? report.findings : []),
      ...cluster.findings,
    ];
    const findings = inOrder(found);
    const isOk = findings.every(({ level }) => level !== 'failed');
    print(
      terminal,
      output,
      { ok: isOk, version, findings },
      () => findings.map((finding) => describe(finding, terminal)).join('') + fit(summarise(findings), terminal),
    );
    return isOk ? 0 : 1;
  },
});

/** The expected shape of a report. Unknown fields are accepted, because the service may have another version. */
const reportShape = z.object({
  version: z.string(),
  checkedAt: z.string(),
  findings: z.array(
    z.object({
      line: z.string(),
      level: z.enum(['ok', 'failed', 'warning', 'skipped']),
      message: z.string(),
      action: z.string().exactOptional(),
    }),
  ),
  conversion: z.union([z.object({ certificate: z.string() }), z.object({ why: z.string() })]),
});

async function askService(values: Parameters<typeof callApi>[0]): Promise<ServiceReport | { why: string; isRefused: boolean }> {
  try {
    const report = reportShape.safeParse(await callApi<unknown>(values, 'GET', '/api/v1/doctor'));
    if (report.success) return report.data;
    return { why: 'what answered is no report of image-watcher', isRefused: false };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { why: error.message, isRefused: error.status === 401 || error.status === 403 };
  }
}

/** Sorts findings by the list of checks, so that findings of the service and of this machine about one check are together. */
function inOrder(findings: readonly Finding[]): Finding[] {
  const order = Object.keys(checks);
  const position = ({ line }: Finding) => order.indexOf(line.split('/')[0] ?? '');
  return findings.toSorted((a, b) => position(a) - position(b));
}

/** The column in which messages begin. */
const messageColumn = 34;

function describe({ line, level, message, action }: Finding, terminal: Terminal): string {
  const todo = action === undefined || level === 'ok' ? '' : `${fit(`    → ${printable(action)}`, terminal)}\n`;
  const text = fit(
    `${marks[level]} ${printable(line).padEnd(messageColumn - 3)} ${printable(message)}`,
    terminal,
    ' '.repeat(messageColumn),
  );
  return `${paintFor(terminal)(colours[level], marks[level])}${text.slice(marks[level].length)}\n${todo}`;
}

function summarise(findings: readonly Finding[]): string {
  const levels: readonly Level[] = ['ok', 'failed', 'warning', 'skipped'];
  const counts = levels.map((level) => `${marks[level]} ${findings.filter((finding) => finding.level === level).length}`);
  return `\n${counts.join('  ')}  (${documentation}/doctor.md)\n`;
}
