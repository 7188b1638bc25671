import { readConfig, registryAliases } from '../../service/config/settings.ts';
import { processSource } from '../../service/config/environment.ts';
import { targets } from '../../service/kube/targets.ts';
import { defineCommand, type Terminal } from '../../service/command-line/command.ts';
import { countOf, print } from '../../service/command-line/output.ts';
import { clusterOptions, currentNamespace, withCluster } from '../../service/command-line/policy-client.ts';
import { registryOptions } from '../../service/command-line/user-registry.ts';
import type { InitReport } from './bases/init-report.ts';
import { readBaseRepository, readMaxTags, tagsOption } from './bases/read-arguments.ts';
import { summaries } from './summaries.ts';

const options = {
  namespace: {
    short: 'n',
    value: 'NAMESPACE',
    completes: 'namespace',
    about: "the namespace of the policies, and of the workloads without -A (default: that of the kubeconfig's context)",
  },
  'all-namespaces': { short: 'A', about: 'the workloads of all namespaces' },
  tags: tagsOption,
  ...clusterOptions,
  ...registryOptions,
  output: {
    short: 'o',
    value: 'FORMAT',
    choices: ['yaml', 'json'],
    about: 'yaml or json',
  },
} as const;

export const basesInit = defineCommand({
  name: 'bases init',
  summary: summaries['bases init'],
  about: `Writes a BaseImagePolicy for each line of versions of a base that images are built on. The policies only report. Comments say how many images are current and behind, whose consent is missing, the next step, and what was left out. On a terminal, asks which to write. Changes nothing in the cluster.

Exit codes: 0 success, 1 failure, or no image is built on the base, 2 wrong usage.`,
  arguments: [
    {
      name: 'REPOSITORY',
      about: 'the base image without a tag',
      missing: 'name the repository of the base image, such as harbor.example.com/library/base-java',
    },
  ],
  options,
  examples: [
    [
      'bases init harbor.example.com/library/base-java -A -n platform > java.yaml',
      'policies in the namespace platform for all applications',
    ],
  ],
  run({ output, namespace, 'all-namespaces': all = false, tags, 'docker-config': dockerConfig, ...values }, [text = ''], terminal) {
    const config = readConfig(processSource(values.config));
    const aliases = registryAliases(config);
    const base = readBaseRepository(text, aliases);
    const maxTags = readMaxTags(tags);
    return withCluster(values, terminal, async (client) => {
      // Imported only here, so that the help does not wait for these modules.
      const [{ readLines }, { proposeLines }, { createFindMissing }] = await Promise.all([
        import('./bases/read-lines.ts'),
        import('./bases/propose-lines.ts'),
        import('./bases/missing-consents.ts'),
      ]);
      const { signal = new AbortController().signal } = terminal;
      const own = currentNamespace(client, namespace);
      const where = { kinds: targets, namespace: all ? undefined : own, selector: undefined };
      const { images, owners, doubts, uncompared, ...read } = await readLines(
        { base, where, maxTags },
        { client, config, dockerConfig, terminal },
      );
      for (const doubt of doubts) terminal.err(`${doubt}\n`);
      const { policies, ...rest } = await proposeLines(images, { base, namespace: own, aliases, ...read, signal });
      const findMissing = createFindMissing(client, config, { namespace: own, signal });
      const proposed: InitReport['policies'][number][] = [];
      for (const one of policies)
        proposed.push({ ...one, missing: await findMissing(one.workloads.flatMap((workload) => owners.get(workload) ?? [])) });
      return show({ base, policies: proposed, ...rest, uncompared }, output, terminal);
    });
  },
});

async function show(report: InitReport, output: 'yaml' | 'json' | undefined, terminal: Terminal): Promise<number> {
  const { formatLines, formatOverview, summarizeLines } = await import('./bases/init-report.ts');
  const { policies, leftOut, unrelated, uncompared } = report;
  const { ask } = terminal;
  if (output === undefined && ask !== undefined && policies.length > 0) {
    const { offerDocuments } = await import('../../service/command-line/offer-documents.ts');
    terminal.out(`${formatOverview(report, terminal)}\n${summarizeLines(report)}\n`);
    return offerDocuments(
      {
        items: policies,
        describe({ policy: { metadata }, selects, images }) {
          const { current, behind } = images;
          return `${metadata.namespace}/${metadata.name}, which selects ${selects}: ${current.length} current, ${behind.length} behind.`;
        },
        format: (wanted) => formatLines({ ...report, policies: wanted }),
        usualFile: 'base-image-policies.yaml',
        next: (wanted, file) =>
          `Wrote ${countOf(wanted.length, 'policy', 'policies')}. Apply them: kubectl apply -f ${file}\nThen see what they find: kubectl get bipol`,
      },
      { ...terminal, ask },
    );
  }
  if (output === 'json') {
    const shown = policies.map(({ policy, selects, images, workloads, missing, notes }) => {
      return { policy, selects, images, workloads, missingConsents: missing.namespaces, notes };
    });
    print(terminal, 'json', { policies: shown, leftOut, unrelated, uncomparedTags: uncompared }, () => '');
  } else terminal.out(formatLines(report));
  terminal.err(`${summarizeLines(report)}\n`);
  return policies.length === 0 ? 1 : 0;
}
