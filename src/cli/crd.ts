import { customResourceDefinition, customResourceDefinitionYaml } from '../api-versions/crd.ts';
import { kubeconfigOf, processSource } from '../config.ts';
import { describeError } from '../core/errors.ts';
import { UsageError, type Command, type Terminal } from './command.ts';
import { parseOptions, parseOutput } from './options.ts';

const options = {
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  output: { type: 'string', short: 'o' },
} as const;

/** `image-watcher crd print|apply`. */
export const crd: Command = {
  name: 'crd',
  summary: 'print the CustomResourceDefinition, or apply it to a cluster',
  help: `Usage: image-watcher crd print [--output text|json]
       image-watcher crd apply [--kubeconfig FILE] [--context NAME] [--output text|json]

print writes the CustomResourceDefinition of ImagePolicy: YAML, or JSON with --output json.
apply creates or updates it and waits until the API server serves it. The cluster is that of --kubeconfig,
else of the environment variable KUBECONFIG, else the one this runs in, else that of ~/.kube/config.
`,
  async run(args, terminal) {
    const { values, positionals } = parseOptions(args, options);
    const output = parseOutput(values.output);
    const [action, ...rest] = positionals;
    if (rest.length > 0 || (action !== 'print' && action !== 'apply')) throw new UsageError('say "crd print" or "crd apply"');
    if (action === 'print') {
      terminal.out(output === 'json' ? `${JSON.stringify(customResourceDefinition(), undefined, 2)}\n` : customResourceDefinitionYaml());
      return 0;
    }
    const kubeconfig = values.kubeconfig ?? kubeconfigOf(processSource());
    return apply(
      { ...(kubeconfig !== undefined && { kubeconfig }), ...(values.context !== undefined && { context: values.context }) },
      output,
      terminal,
    );
  },
};

async function apply(cluster: { kubeconfig?: string; context?: string }, output: 'text' | 'json', terminal: Terminal): Promise<number> {
  // Loaded only now: printing should not wait for the Kubernetes client.
  const [{ createKubeClient }, { applyCustomResourceDefinition }] = await Promise.all([
    import('../kube/client.ts'),
    import('../kube/apply-crd.ts'),
  ]);
  const name = customResourceDefinition().metadata.name;
  const onProgress = (message: string) => {
    if (output === 'text') terminal.err(`${message}\n`);
  };
  try {
    const client = createKubeClient(cluster);
    try {
      const { action } = await applyCustomResourceDefinition(client, customResourceDefinition(), { onProgress });
      terminal.out(output === 'json' ? `${JSON.stringify({ name, action })}\n` : `customresourcedefinition ${name} ${action}\n`);
      return 0;
    } finally {
      await client.close();
    }
  } catch (error) {
    terminal.err(`applying ${name} failed: ${describeError(error)}\n`);
    return 1;
  }
}
