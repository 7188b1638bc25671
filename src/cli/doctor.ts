import { z } from 'zod';
import { type Finding, type Level, type ServiceReport } from '../doctor/finding.ts';
import { checks } from '../doctor/checks/index.ts';
import { documentation } from '../model/reasons.ts';
import { readVersion } from '../version.ts';
import { ApiError, apiHelp, apiOptions, callApi } from './api-client.ts';
import { type Command, parseOptions, parseOutput, UsageError } from './command.ts';
import { checkCluster } from './doctor/check-cluster.ts';

const options = { ...apiOptions, 'certificate-days': { type: 'string' } } as const;

const marks: Readonly<Record<Level, string>> = { ok: '✓', failed: '✗', warning: '!', skipped: '–' };
const colours: Readonly<Record<Level, number>> = { ok: 32, failed: 31, warning: 33, skipped: 90 };

/** `image-watcher doctor`. */
export const doctor: Command = {
  name: 'doctor',
  summary: 'check a running installation: Redis, permissions, certificates, webhooks, registries, policies, clocks',
  help: `Usage: image-watcher doctor [--server URL] [--certificate-days N] [--output text|json]

Checks a running installation, and says what to do: ✓ as it should be, ✗ act, ! look at it, – not checked. The service reports what
only it can reach (you need the right to list imagepolicies in all namespaces); the cluster is checked with your kubeconfig, and nothing
is changed. Ends with 1 when a line is ✗. ${documentation}/doctor.md explains each line.

  --certificate-days  report certificates that end within so many days (default 14)
${apiHelp}  --kubeconfig  the kubeconfig; default: KUBECONFIG, then the service account of the pod, then ~/.kube/config
  --context     a context of the kubeconfig other than the current one
`,
  async run(args, terminal) {
    const { values, positionals } = parseOptions(args, options);
    if (positionals.length > 0) throw new UsageError(`doctor takes no arguments: ${positionals.join(' ')}`);
    const output = parseOutput(values.output);
    const days = Number(values['certificate-days'] ?? 14);
    if (!Number.isInteger(days) || days < 0 || days > 3_650) throw new UsageError('--certificate-days is a number from 0 to 3650');
    const report = await askService(values);
    const cluster = await checkCluster(values, {
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
    if (output === 'json') terminal.out(`${JSON.stringify({ ok: isOk, version, findings }, undefined, 2)}\n`);
    else terminal.out(findings.map((finding) => describe(finding, terminal.hasColours ?? false)).join('') + summarise(findings));
    return isOk ? 0 : 1;
  },
};

/** What another version may answer is not known. */
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
    return { why: 'what answers at --server is no report of image-watcher', isRefused: false };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { why: error.message, isRefused: error.status === 401 || error.status === 403 };
  }
}

/** Both halves of a check stand together, in the order of the list. */
function inOrder(findings: readonly Finding[]): Finding[] {
  const order = Object.keys(checks);
  const position = ({ line }: Finding) => order.indexOf(line.split('/')[0] ?? '');
  return findings.toSorted((a, b) => position(a) - position(b));
}

function describe({ line, level, message, action }: Finding, hasColours: boolean): string {
  const mark = hasColours ? `\u{1b}[${colours[level]}m${marks[level]}\u{1b}[0m` : marks[level];
  const todo = action === undefined || level === 'ok' ? '' : `    → ${printable(action)}\n`;
  return `${mark} ${printable(line).padEnd(31)} ${printable(message)}\n${todo}`;
}

/** Messages quote registries, policies and the service: nothing of them may steer a terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

function summarise(findings: readonly Finding[]): string {
  const levels: readonly Level[] = ['ok', 'failed', 'warning', 'skipped'];
  const counts = levels.map((level) => `${marks[level]} ${findings.filter((finding) => finding.level === level).length}`);
  return `\n${counts.join('  ')}  (${documentation}/doctor.md)\n`;
}
