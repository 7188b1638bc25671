import { randomBytes } from 'node:crypto';
import { describeError } from '../core/model/errors.ts';
import { defineCommand, UsageError } from '../service/command-line/command.ts';
import { clusterOf, clusterOptions } from '../service/command-line/policy-client.ts';
import { summaries } from './summaries.ts';

export const generatePassword = defineCommand({
  name: 'generate-password',
  summary: summaries['generate-password'],
  about:
    "Creates the Secret with a random password of 256 bits. A Secret that exists is left as it is. The chart's job does this for the embedded Redis.",
  options: {
    secret: { value: 'NAMESPACE/NAME', about: 'the Secret' },
    key: { value: 'KEY', about: 'its key (default password)' },
    ...clusterOptions,
  },
  examples: [['generate-password --secret image-watcher/redis', 'create the Secret redis in the namespace image-watcher']],
  async run(values, _args, terminal) {
    const [, namespace, name] = /^([a-z0-9.-]+)\/([a-z0-9.-]+)$/.exec(values.secret ?? '') ?? [];
    if (namespace === undefined || name === undefined) throw new UsageError('name the Secret: --secret NAMESPACE/NAME');
    const { key = 'password' } = values;
    // Imported only here, so that the help does not wait for the Kubernetes client.
    const [{ openKubeClient }, { agreeOnSecret }] = await Promise.all([
      import('../service/kube/client.ts'),
      import('../service/kube/secrets.ts'),
    ]);
    let isNew = false;
    try {
      const client = await openKubeClient(clusterOf(values));
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
});
