import { customResourceDefinition, customResourceDefinitionYaml, defaultEndpoint, type CrdShape } from '../api-versions/crd.ts';
import type { Command, Terminal } from './command.ts';
import { applyCrd } from './crd-apply.ts';
import { migrateCrd } from './crd-migrate.ts';
import { type CrdValues, endpointOf, namespacedName, parseCrdOptions, readCaFile, storageOf } from './crd-options.ts';

/** `image-watcher crd print|apply|migrate`. */
export const crd: Command = {
  name: 'crd',
  summary: 'print the CustomResourceDefinition, apply it to a cluster, migrate stored policies',
  help: `Usage: image-watcher crd print [ENDPOINT] [--storage v1|v1alpha1] [--v1-only] [--output text|json]
       image-watcher crd apply [ENDPOINT] [--storage v1|v1alpha1] [--serve v1alpha1] [--v1-only]
                               [--skip-probe] [--timeout 30s] [CLUSTER] [--output text|json]
       image-watcher crd migrate [--retire v1alpha1] [--unused-for 168h] [--concurrency 10] [--if-present] [CLUSTER]
                               [--output text|json]

print writes the CustomResourceDefinition of ImagePolicy: YAML, or JSON with --output json.

apply creates or updates it and waits until the API server serves it: v1 and v1alpha1, stored as v1, converted by the
webhook of the role convert. A service of before v1 must have stopped: the older definition has no status subresource,
so that from here on its status would be ignored, and it would act again and again.
A new webhook or storage version comes only after the endpoint has answered and the API server has converted all
policies through it; otherwise the definition is unchanged or restored. Earlier decisions are kept unless an option
changes them: the webhook, a retired v1alpha1, v1 alone. A version in status.storedVersions is never removed.

  ENDPOINT
  --conversion-service NAMESPACE/NAME[:PORT]  the Service of the role convert; image-watcher/image-watcher-conversion:443
  --conversion-url URL    instead of a Service: for development, and for a webhook outside of the cluster
  --ca-file FILE          the certificate authority of the endpoint. Without it for a Service: ca.crt of the Secret
  --ca-secret NAMESPACE/NAME        image-watcher-conversion in its namespace, or of this one (apply only);
  --inject-ca-from NAMESPACE/NAME   or cert-manager writes it, from this Certificate. For a URL: that of the system

  --storage     the version to store policies in; v1alpha1 is for a downgrade, "crd migrate" then rewrites them
  --serve       serves v1alpha1 again after it was retired
  --v1-only     without v1alpha1 and without a webhook: for clusters that never had v1alpha1
  --skip-probe  skips the request to the endpoint; the API server must still convert all stored policies
  --timeout     how long the API server may fail to convert (default 30s)

migrate makes the API server rewrite every policy in the storage version, then removes the others from
status.storedVersions. It overwrites no changes, and can be interrupted and run again at any time. Policies that
the API server refuses are listed at the end, and storedVersions is unchanged (exit code 1).

  --retire      then stops serving v1alpha1. Refused while a policy needs it: one that may be stored in it, one whose
                manifest is applied in it (kubectl apply, server-side apply), or one that somebody has written
                through it lately. Helm keeps manifests of its own: upgrade such releases to v1 before
  --unused-for  how long nobody may have written through v1alpha1 (default 168h)
  --concurrency how many policies are rewritten at once
  --if-present  succeeds without a CustomResourceDefinition: nothing is stored then

  CLUSTER       --kubeconfig FILE and --context NAME; else that of the environment variable KUBECONFIG, else the one
                this runs in, else that of ~/.kube/config
`,
  async run(args, terminal) {
    const { action, output, values } = parseCrdOptions(args);
    if (action === 'print') return print(values, output, terminal);
    return action === 'apply' ? applyCrd(values, output, terminal) : migrateCrd(values, output, terminal);
  },
};

function print(values: CrdValues, output: 'text' | 'json', terminal: Terminal): number {
  const shape = shapeOf(values);
  terminal.out(
    output === 'json' ? `${JSON.stringify(customResourceDefinition(shape), undefined, 2)}\n` : customResourceDefinitionYaml(shape),
  );
  return 0;
}

function shapeOf(values: CrdValues): CrdShape {
  const { 'ca-file': file, 'inject-ca-from': injectCaFrom } = values;
  if (values['v1-only']) return { v1Only: true };
  if (injectCaFrom !== undefined) namespacedName('inject-ca-from', injectCaFrom);
  const storage = storageOf(values);
  return {
    conversion: {
      endpoint: endpointOf(values) ?? defaultEndpoint,
      ...(file !== undefined && { ca: readCaFile(file) }),
      ...(injectCaFrom !== undefined && { injectCaFrom }),
    },
    ...(storage !== undefined && { storage }),
  };
}
