/** The environment of this process, which no other module reads. It imports nothing, so that a command without a configuration starts without its schema. */

/** The source of a configuration: a file and environment variables. */
export interface ConfigSource {
  /** The configuration file, or a folder whose `*.yaml` files are merged. */
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file with the namespace of the pod; the one of its service account unless given. */
  readonly namespaceFile?: string;
}

/** The source of this process: process.env, and a file or folder. */
export function processSource(file?: string): ConfigSource {
  return { file, env: process.env };
}

/** The address at which a pod finds the API server, from its environment variables. */
export function podOf({ env }: ConfigSource): { readonly host: string | undefined; readonly port: string | undefined } {
  return { host: env['KUBERNETES_SERVICE_HOST'] || undefined, port: env['KUBERNETES_SERVICE_PORT'] || undefined };
}

/** The environment variable KUBECONFIG. */
export function kubeconfigOf({ env }: ConfigSource): string | undefined {
  return env['KUBECONFIG'] || undefined;
}
