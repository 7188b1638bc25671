/** `npm run kind`: from a checkout to a cluster in which a push changes a Deployment. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { names } from './objects.ts';
import { type Options, planInstallation, planRemoval, toolsOf, type Where, wrongOptions } from './plan.ts';
import { checkTools, PlanError, runPlan } from './run-plan.ts';
import { toScript } from './script.ts';

const usage = `Usage: npm run kind [-- OPTIONS]

Builds the image from this checkout, creates a cluster "${names.cluster}" with kind, starts a registry in it that announces its pushes, installs the chart, and
applies the example of README.md; then pushes a new version, and waits until the Deployment runs it. Nothing that exists is changed: neither a cluster nor your
kubeconfig.

      --k3d          create the cluster with k3d
      --context CTX  use an existing cluster, by its context of your kubeconfig
      --image NAME   the name of the image to build, where the cluster has to pull it from a registry
      --dry-run      print the commands, and run none
      --delete       remove what an earlier run with the same options has created, and nothing else
`;

const root = join(import.meta.dirname, '../..');

process.exitCode = await main();

async function main(): Promise<number> {
  const read = readOptions();
  if (typeof read === 'number') return read;
  const { options, isDryRun, deletes } = read;
  const steps = deletes ? planRemoval(options) : planInstallation(options);
  if (isDryRun) {
    process.stdout.write(toScript(steps));
    return 0;
  }
  const surroundings = { cwd: root, env: process.env, say: (line: string) => void process.stdout.write(`${line}\n`) };
  try {
    await checkTools(toolsOf(options), surroundings);
    mkdirSync(join(options.kubeconfig, '..'), { recursive: true });
    await runPlan(steps, surroundings);
    if (!deletes) process.stdout.write(whatNow(options));
    return 0;
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    process.stderr.write(`\n${error.message}\n`);
    return 1;
  }
}

function readOptions(): { options: Options; isDryRun: boolean; deletes: boolean } | number {
  const flags = {
    k3d: { type: 'boolean', default: false },
    context: { type: 'string' },
    image: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    delete: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  } as const;
  try {
    const { values } = parseArgs({ options: flags, allowPositionals: false });
    if (values.help) {
      process.stdout.write(usage);
      return 0;
    }
    if (values.k3d && values.context !== undefined)
      throw new Error('--k3d creates a cluster, and --context uses one that there is: choose');
    const where: Where = values.context === undefined ? (values.k3d ? 'k3d' : 'kind') : { context: values.context };
    const wrong = values.delete ? undefined : wrongOptions({ where, ...(values.image !== undefined && { image: values.image }) });
    if (wrong !== undefined) throw new Error(wrong);
    const options: Options = {
      where,
      ...(values.image !== undefined && { image: values.image }),
      kubeconfig: join(homedir(), '.cache', 'image-watcher-kind', `${typeof where === 'string' ? where : 'context'}.kubeconfig`),
      secret: randomBytes(24).toString('hex'),
      readme: readFileSync(join(root, 'README.md'), 'utf8'),
    };
    return { options, isDryRun: values['dry-run'], deletes: values.delete };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
}

function whatNow({ where, kubeconfig }: Options): string {
  const isNew = typeof where === 'string';
  const again =
    where === 'kind' ? 'npm run kind --' : where === 'k3d' ? 'npm run kind -- --k3d' : `npm run kind -- --context ${where.context}`;
  return `
The pushed version runs. To look around:
${isNew ? `  export KUBECONFIG=${kubeconfig}\n` : ''}  kubectl -n ${names.example} get ipol,deployments
  node dist/main.js explain ${names.example}/web
To remove all of it:
  ${again} --delete
`;
}
