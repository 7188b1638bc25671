/** What reaching the API server takes: `load-kube-access.ts` finds it. */

/** The address of the API server and the credentials for it, valid for the next seconds. */
export interface KubeAccess {
  /** Scheme, host, port, and a path where the API server is behind one (`https://rancher.example.com/k8s/clusters/c-1`). */
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

/** Provides credentials, and renews them regularly and after they were refused. */
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

/** Reads credentials again after ten seconds, after a failure, and after they were refused; `isRefused` says that it is for that. */
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
      // Concurrent requests are refused with the same token: only the first may run the exec plugin again.
      if (last?.resolved !== refused) return;
      last = undefined;
      isRefused = true;
    },
  };
}
