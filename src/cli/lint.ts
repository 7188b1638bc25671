import type { AllowedChecks } from '../service/checks/allowed-checks.ts';
import { type Config, readConfig, registryAliases } from '../service/config/settings.ts';
import { processSource } from '../service/config/environment.ts';
import { namespaceRulesOf } from '../service/config/policy-defaults.ts';
import type { ResourceGroup } from '../service/resources/resource-group.ts';
import { defineCommand, type Options, type Terminal, UsageError } from '../service/command-line/command.ts';
import { allowedBy, checkFindings } from './lint/check-findings.ts';
import { followFindings } from './lint/follow-findings.ts';
import { defaultsIn, exceptionFindings } from './lint/idle-exceptions.ts';
import { formatReport, type LintedFile } from './lint/format-report.ts';
import { lintText } from './lint/lint-text.ts';
import { sharedWarnings } from './lint/shared-warnings.ts';
import { withFindings } from './lint/with-findings.ts';
import { readTexts, type ReadText, type Unreadable } from './manifests/read-texts.ts';
import { outputOption, print } from '../service/command-line/output.ts';
import { clusterOptions, withCluster } from '../service/command-line/policy-client.ts';
import { printable } from '../service/command-line/printable.ts';
import { readGroup } from './resource-group.ts';
import { summaries } from './summaries.ts';
import { registryOptions } from '../service/command-line/user-registry.ts';
import { fileOption, namespaceOption } from '../service/command-line/usual-options.ts';

const failed = 2;

const options = {
  cluster: { about: 'also show what the policies would do in the cluster at once; without files, those of the cluster' },
  namespace: namespaceOption(
    "with --cluster: the namespace of the policies, and of those in files that name none (default: that of the kubeconfig's context)",
  ),
  'all-namespaces': { short: 'A', about: 'with --cluster and without files: the policies of all namespaces' },
  ...clusterOptions,
  'docker-config': registryOptions['docker-config'],
  config: fileOption(
    'the configuration of the service, for customTargets, checks and policyDefaults, and all that decides with --cluster; only what is built in unless given',
  ),
  ...outputOption,
} as const satisfies Options;

export const lint = defineCommand({
  name: 'lint',
  summary: summaries.lint,
  about: `Checks every ImagePolicy and BaseImagePolicy in the files: its shape, the rules of the API server, and what only the service checks, such as version ranges. Unknown fields are problems. What is probably a mistake is a warning, such as two policies that would change one container.

With --cluster, it also reads the targets and asks the registry, but changes nothing. Problems are then also missing targets, tags that the registry does not show, and first changes to an unlikely version (UnlikelyVersion). Warnings are containers that stay (OtherTrack), downgrades, and unlikely first changes that are not held. Notes say what would change at once, or wait.

Exit codes: 0 no problems, 1 problems, 2 a file cannot be read, there is no policy in any of them, or the cluster does not answer.`,
  arguments: [
    {
      name: 'FILE',
      about:
        'YAML or JSON, any number of documents and lists; a folder means all .yaml, .yml and .json files in it (except in hidden folders and node_modules), and - the standard input',
      multiple: true,
      completes: 'file',
    },
  ],
  options,
  examples: [
    ['lint policies/', 'every manifest of a folder'],
    ['lint -', 'the standard input'],
    ['lint --cluster policies/', 'what the policies of a folder would do in the cluster at once'],
  ],
  async run({ output, config: file, cluster = false, ...values }, paths, terminal) {
    checkUsage({ cluster, ...values }, paths);
    const config = file === undefined && !cluster ? undefined : readConfig(processSource(file));
    const given = file === undefined ? undefined : config;
    const operator = given && operatorOf(given);
    const allowed = given && allowedBy(given);
    const { linted, unreadable } = await lintFiles(paths, terminal, operator);
    const finish = (files: readonly LintedFile[]) => {
      report({ files, unreadable, paths }, output, terminal);
      return exitCodeOf(files, unreadable);
    };
    if (!cluster || config === undefined) return finish(await withCheckProblems(withComparisons(linted, given), allowed));
    return withCluster(
      values,
      terminal,
      async (client) => {
        const { lintCluster } = await import('./lint/lint-cluster.ts');
        const { namespace, 'all-namespaces': all = false, 'docker-config': dockerConfig } = values;
        const files = paths.length === 0 ? undefined : linted;
        return finish(await lintCluster(client, { files, namespace, all, config, allowed, dockerConfig, terminal }));
      },
      failed,
    );
  },
});

type Values = Readonly<Record<string, unknown>>;

function checkUsage({ cluster, 'all-namespaces': all, namespace, ...values }: Values, paths: readonly string[]): void {
  const named = Object.entries({ 'all-namespaces': all, namespace, ...values }).find(([, value]) => value !== undefined);
  if (cluster !== true && named !== undefined) throw new UsageError(`--${named[0]} goes with --cluster`);
  if (cluster !== true && paths.length === 0)
    throw new UsageError(
      'name the files or folders to check, or - for the standard input, or add --cluster for the policies of the cluster',
    );
  if (all === true && (paths.length > 0 || namespace !== undefined))
    throw new UsageError(`--all-namespaces goes without ${paths.length > 0 ? 'files' : '--namespace'}`);
}

function exitCodeOf(files: readonly LintedFile[], unreadable: readonly Unreadable[]): number {
  if (unreadable.length > 0) return failed;
  if (files.every(({ policies, problems }) => policies === 0 && problems.length === 0)) return failed;
  return files.some(({ problems }) => problems.length > 0) ? 1 : 0;
}

type Operator = Parameters<typeof lintText>[2];

function operatorOf(config: Config): NonNullable<Operator> {
  return { customTargets: config.customTargets, aliases: registryAliases(config) };
}

async function lintFiles(paths: readonly string[], terminal: Terminal, operator: Operator) {
  const { texts, unreadable } = await readTexts(paths, terminal);
  const resources = await readGroup();
  return { linted: texts.map((file) => lintFile(file, resources, operator)), unreadable };
}

/**
 * The same files, with what is found only by comparing the policies with each other and with the configuration: shared containers, what keeps one from following
 * another, and exceptions from waits that there are not.
 */
function withComparisons(files: readonly LintedFile[], config: Config | undefined): readonly LintedFile[] {
  const located = files.flatMap(({ path, manifests }) => manifests.policies.map((one) => ({ path, ...one })));
  const workloads = files.flatMap(({ manifests }) => manifests.workloads);
  const found = sharedWarnings(located, { workloads, aliases: config ? registryAliases(config) : new Map() });
  const shared = found.map(({ path, warning }) => ({ path, severity: 'warning' as const, ...warning }));
  const followed = followFindings(located).map(({ path, severity, finding }) => ({ path, severity, ...finding }));
  const hasDefault = defaultsIn(config && namespaceRulesOf(config));
  const exempt = located.flatMap((one) => exceptionFindings(one, hasDefault));
  return files.map((file) => withFindings(file, [...shared, ...followed, ...exempt]));
}

/** The same files, with added problems of checks that the configuration does not allow. */
async function withCheckProblems(files: readonly LintedFile[], allowed: AllowedChecks | undefined): Promise<readonly LintedFile[]> {
  const located = files.flatMap(({ path, manifests }) => manifests.policies.map((one) => ({ path, ...one })));
  const found = (await Promise.all(located.map((one) => checkFindings(one, { allowed })))).flat();
  return files.map((file) => withFindings(file, found));
}

function lintFile({ path, isNamed, text }: ReadText, resources: ResourceGroup, operator: Operator): LintedFile {
  const result = lintText(text, resources, operator);
  // Folders also contain templates and other files that are not YAML. Their problems count only if they mention ImagePolicy.
  const isOurs = isNamed || result.policies > 0 || text.includes('ImagePolicy');
  return { ...result, path, problems: isOurs ? result.problems : [] };
}

/** The files that were named, those that were checked, and those that could not be read. */
interface Linted {
  readonly paths: readonly string[];
  readonly files: readonly LintedFile[];
  readonly unreadable: readonly Unreadable[];
}

function report({ files, unreadable, paths }: Linted, output: 'text' | 'json' | 'yaml' | undefined, terminal: Terminal): void {
  for (const { path, message } of unreadable) terminal.err(`${printable(path)}: ${printable(message)}\n`);
  const count = (pick: (file: LintedFile) => number) => files.reduce((total, file) => total + pick(file), 0);
  const policies = count((file) => file.policies);
  const problems = files.flatMap((file) => file.problems.map((problem) => ({ file: file.path, ...problem })));
  if (output === 'json' || output === 'yaml') {
    const warnings = files.flatMap(({ path, warnings = [] }) => warnings.map((warning) => ({ file: path, ...warning })));
    const notes = files.flatMap(({ path, notes = [] }) => notes.map((note) => ({ file: path, ...note })));
    const found = { problems, ...(warnings.length > 0 && { warnings }), ...(notes.length > 0 && { notes }) };
    const summary = { files: files.length, policies, others: count((file) => file.others), ...found, unreadable };
    print(terminal, output, summary, () => '');
  } else if (policies > 0 || problems.length > 0) {
    terminal.out(formatReport(files, terminal.hasColours ?? false));
  }
  if (policies === 0 && unreadable.length === 0)
    terminal.err(`there is no ImagePolicy or BaseImagePolicy in ${printable(paths.join(', ') || 'the cluster')}\n`);
}
