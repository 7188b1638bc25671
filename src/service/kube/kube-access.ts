/** The access to the API server: its address, TLS material and credentials. `load-kube-access.ts` finds it. */

/** The address of the API server and credentials that are valid for the next seconds. */
export interface KubeAccess {
  /** Scheme, host, port, and a path if the API server is behind one (`https://rancher.example.com/k8s/clusters/c-1`). */
  readonly server: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: KubeTls;
  readonly proxyUrl?: string;
}

/** The TLS material of the connection, in node:tls's terms. */
export interface KubeTls {
  readonly ca?: Buffer | string;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** Provides credentials, and renews them regularly and after a refusal. */
export interface KubeAccessSource {
  /** The namespace of the kubeconfig's context, or of the pod. */
  readonly namespace: string | undefined;
  current(): Promise<KubeAccess>;
  /** Drops credentials that the API server refused, so that the next ones are read from their source again. */
  forget(refused: KubeAccess): void;
}

const renewMs = 10_000;

interface Renewed {
  readonly at: number;
  readonly access: Promise<KubeAccess>;
  resolved?: KubeAccess;
}

/** Reads credentials again after ten seconds, after a failure, and after a refusal; `isRefused` is true after a refusal. */
export function renewAccess(read: (isRefused: boolean) => Promise<KubeAccess>, now: () => number): Omit<KubeAccessSource, 'namespace'> {
  let last: Renewed | undefined;
  let isRefused = false;
  const renew = (): Renewed => {
    const access = read(isRefused);
    isRefused = false;
    return { at: now(), access };
  };
  return {
    async current() {
      if (!last || now() - last.at >= renewMs) last = renew();
      const entry = last;
      try {
        entry.resolved = await entry.access;
        return entry.resolved;
      } catch (error) {
        if (last === entry) last = undefined;
        throw error;
      }
    },
    forget(refused) {
      // Concurrent requests are refused with the same token, and only the first refusal may run the exec plugin again.
      if (last?.resolved !== refused) return;
      last = undefined;
      isRefused = true;
    },
  };
}
