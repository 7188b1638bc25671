import { randomBytes } from 'node:crypto';
import { describeError } from '../model/errors.ts';
import { type Command, parseOptions, UsageError } from './command.ts';
import { clusterOf } from './crd-options.ts';

const options = {
  secret: { type: 'string' },
  key: { type: 'string' },
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
} as const;

/** `image-watcher generate-password`. */
export const generatePassword: Command = {
  name: 'generate-password',
  summary: 'create a Secret with a random password, unless it exists',
  help: `Usage: image-watcher generate-password --secret NAMESPACE/NAME [--key password] [--kubeconfig FILE] [--context NAME]

Creates the Secret with a random password of 256 bits. A Secret that exists is left as it is, so that a password stays the same however
often this runs. The chart's job does this for the embedded Redis.

  --secret      the Secret
  --key         its key (default password)
  --kubeconfig  also KUBECONFIG; in a pod, its service account
`,
  async run(args, terminal) {
    const { values, positionals } = parseOptions(args, options);
    const [, namespace, name] = /^([a-z0-9.-]+)\/([a-z0-9.-]+)$/.exec(values.secret ?? '') ?? [];
    if (positionals.length > 0 || namespace === undefined || name === undefined)
      throw new UsageError('name the Secret: --secret NAMESPACE/NAME');
    const { key = 'password' } = values;
    // Loaded only now: help should not wait for the Kubernetes client.
    const [{ createKubeClient }, { agreeOnSecret }] = await Promise.all([import('../kube/client.ts'), import('../kube/secrets.ts')]);
    let isNew = false;
    try {
      const client = createKubeClient(clusterOf(values));
      try {
        await agreeOnSecret(client, { namespace, name, type: 'Opaque' }, (data) => {
          if (data !== undefined && !data[key]) throw new Error(`it exists and has no ${key}: add one, or delete the Secret`);
          isNew = data === undefined;
          return Promise.resolve(data === undefined ? { [key]: randomBytes(32).toString('hex') } : undefined);
        });
      } finally {
        await client.close();
      }
    } catch (error) {
      terminal.err(`Secret ${namespace}/${name}: ${describeError(error)}\n`);
      return 1;
    }
    terminal.out(`Secret ${namespace}/${name}: ${isNew ? 'created' : 'unchanged'}\n`);
    return 0;
  },
};
