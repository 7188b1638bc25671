import { dirname, join } from 'node:path';
import { defineCommand, UsageError } from '../service/command-line/command.ts';
import { print } from '../service/command-line/output.ts';
import { metadataOf } from '../service/command-line/policy-client.ts';
import { fileOption } from '../service/command-line/usual-options.ts';
import { processSource } from '../service/config/environment.ts';
import { readConfig } from '../service/config/settings.ts';
import { readOffline, type UsablePolicy } from './backtest/read-offline.ts';
import { readYaml } from './backtest/read-yaml.ts';
import { casesSchema } from './cases/cases-file.ts';
import { formatCases, formatJUnit } from './cases/format-cases.ts';
import { type CaseResult, runCase } from './cases/run-case.ts';
import { readPolicyFiles } from './once/read-files.ts';
import { summaries } from './summaries.ts';

const options = {
  config: fileOption('the configuration of the service (aliases, customTargets, policyDefaults); its defaults unless given'),
  output: { short: 'o', value: 'FORMAT', choices: ['text', 'json', 'yaml', 'junit'], about: 'text, json, yaml or junit (default text)' },
} as const;

export const test = defineCommand({
  name: 'test',
  summary: summaries.test,
  about: `Tests policies offline: each case names tags with the times of their pushes, and the image or the reason that is expected at a time. The policy decides with the code of the service. Needs no cluster and no registry.

Signatures, checks and rollouts count as good. Policies that follow others (select.proven, update.after) cannot be tested.

Exit codes: 0 all cases are as expected, 1 some are not, 2 a file cannot be read or is wrong.`,
  arguments: [{ name: 'FILE', about: 'files with cases, in YAML or JSON', multiple: true, completes: 'file' }],
  options,
  examples: [
    ['test policies/cases.yaml', 'the cases of a file'],
    ['test --output junit policies/cases.yaml > report.xml', 'a report for a CI system'],
  ],
  async run({ config: file, output }, paths, terminal) {
    if (paths.length === 0) throw new UsageError('name at least one file with cases');
    const config = readConfig(processSource(file));
    const { signal = new AbortController().signal } = terminal;
    const results: CaseResult[] = [];
    for (const path of paths) {
      const { policies: files, cases } = readYaml(path, casesSchema);
      const documents = await readPolicyFiles(
        files.map((one) => join(dirname(path), one)),
        config,
        terminal,
      );
      if (documents === 'invalid') return 2;
      const policies = new Map<string, UsablePolicy>();
      for (const one of cases) {
        const policy = policies.get(one.policy) ?? (await readOffline(findDocument(documents, one.policy, path), config));
        policies.set(one.policy, policy);
        results.push(await runCase(one, policy, config, signal));
      }
    }
    if (output === 'junit') terminal.out(formatJUnit(results));
    else print(terminal, output, { cases: results }, () => formatCases(results, terminal));
    return results.every(({ failures }) => failures.length === 0) ? 0 : 1;
  },
});

/** The document of a policy: NAMESPACE/NAME, or a name that only one has. */
function findDocument(documents: readonly unknown[], wanted: string, path: string): unknown {
  const found = documents.filter((document) => {
    const { namespace, name } = metadataOf(document);
    return wanted === name || wanted === `${namespace}/${name}`;
  });
  if (found.length === 1) return found[0];
  throw new UsageError(`${path}: ${found.length === 0 ? 'no' : 'more than one'} ImagePolicy ${wanted} is in the files of "policies"`);
}
