import { readConfig, registryAliases } from '../../service/config/settings.ts';
import { processSource } from '../../service/config/environment.ts';
import { targets } from '../../service/kube/targets.ts';
import { strategies } from '../../core/select/strategies/index.ts';
import { formatBases, summarize } from './bases/report.ts';
import { defineCommand, listOf } from '../../service/command-line/command.ts';
import { asUsage, UsageError } from '../../service/command-line/usage-error.ts';
import { print } from '../../service/command-line/output.ts';
import { registryOptions } from '../../service/command-line/user-registry.ts';
import { currentNamespace, policyOptions, withCluster } from '../../service/command-line/policy-client.ts';
import { withCommands } from '../../service/command-line/with-commands.ts';
import { readBaseRepository, readMaxTags, tagsOption } from './bases/read-arguments.ts';
import { basesInit } from './bases-init.ts';
import { summaries } from './summaries.ts';

const kindNames = targets.map(({ kind }) => kind);

const options = {
  range: { value: 'RANGE', about: 'select the highest version in this range: 21.x (default: the highest stable one)' },
  latest: { value: 'TAG', about: 'select a mutable tag instead' },
  tags: tagsOption,
  kind: { value: 'KIND', multiple: true, about: `only workloads of this kind, as often as needed: ${listOf(kindNames)} (default: all)` },
  selector: { short: 'l', value: 'SELECTOR', about: 'only workloads with these labels, in the syntax of kubectl' },
  behind: { about: 'show only the images that are behind' },
  'fail-on-behind': { about: 'exit with 1 if an image is behind' },
  ...policyOptions,
  namespace: { ...policyOptions.namespace, about: "the namespace of the workloads (default: that of the kubeconfig's context)" },
  'all-namespaces': { short: 'A', about: 'the workloads of all namespaces' },
  ...registryOptions,
  output: {
    short: 'o',
    value: 'FORMAT',
    choices: ['text', 'wide', 'json', 'yaml', 'name'],
    about: 'text, wide (with all workloads, digests and reasons), json, yaml or name (default text)',
  },
} as const;

const list = defineCommand({
  name: 'bases',
  summary: summaries.bases,
  about: `Shows the images of workloads that are built on a base image: Current, if on its selected version, Behind, if on an older one, OtherLine, if on one of another line (21.0.1-alpine for 21.0.2), and Unknown, if that cannot be recognized. Others are only counted. Changes nothing.

Exit codes: 0 success, 1 failure, or an image is behind with --fail-on-behind, 2 wrong usage.`,
  arguments: [
    {
      name: 'REPOSITORY',
      about: 'the base image without a tag: harbor.example.com/library/base-java',
      missing: 'name the repository of the base image, such as harbor.example.com/library/base-java',
    },
  ],
  options,
  examples: [
    ['bases harbor.example.com/library/base-java --range 21.x -A', 'who in the cluster is built on it, and who is behind'],
    ['bases docker.io/library/debian --latest bookworm-slim --behind -o name', 'the images that are behind a mutable tag'],
  ],
  run(
    { output, config: file, 'all-namespaces': all = false, 'docker-config': dockerConfig, kind: kinds = kindNames, ...values },
    [text = ''],
    terminal,
  ) {
    if (all && values.namespace !== undefined) throw new UsageError('--all-namespaces goes without --namespace');
    if (values.range !== undefined && values.latest !== undefined) throw new UsageError('--range goes without --latest');
    const config = readConfig(processSource(file));
    const base = readBaseRepository(text, registryAliases(config), (tag) => `write --latest ${tag}, or --range for versions`);
    const strategy = readRange(values.range);
    const wanted = targets.filter(({ kind }) => kinds.some((name) => name.toLowerCase() === kind.toLowerCase()));
    const maxTags = readMaxTags(values.tags);
    const unknown = kinds.find((name) => !kindNames.some((kind) => kind.toLowerCase() === name.toLowerCase()));
    if (unknown !== undefined) throw new UsageError(`--kind is ${listOf(kindNames)}, not "${unknown}"`);
    return withCluster(values, terminal, async (client) => {
      // The clients are imported only here, so that the help does not wait for them.
      const { examine } = await import('./bases/examine.ts');
      const where = { kinds: wanted, namespace: all ? undefined : currentNamespace(client, values.namespace), selector: values.selector };
      const examined = await examine({ base, strategy, latest: values.latest, maxTags, where }, { client, config, dockerConfig, terminal });
      const found = summarize(base, examined);
      const report = values.behind ? { ...found, images: found.images.filter(({ state }) => state === 'Behind') } : found;
      if (output === 'name') terminal.out(report.images.map(({ image }) => `${image}\n`).join(''));
      else
        print(terminal, output === 'wide' ? 'text' : output, report, () =>
          formatBases(report, { isWide: output === 'wide', now: new Date() }, terminal),
        );
      return values['fail-on-behind'] && found.summary.behind > 0 ? 1 : 0;
    });
  },
});

function readRange(range: string | undefined) {
  return asUsage('--range', () => strategies.semver(range === undefined ? {} : { range }));
}

export const bases = withCommands(list, [basesInit]);
