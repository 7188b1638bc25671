import { ConfigError } from '../config.ts';
import { describeError } from '../model/errors.ts';
import { createKubeClient, type KubeClient } from '../kube/client.ts';

/** A client of the cluster; opens nothing yet, and throws ConfigError without a usable kubeconfig. */
export function openCluster(kubeconfig: string | undefined): KubeClient {
  try {
    return createKubeClient(kubeconfig === undefined ? {} : { kubeconfig });
  } catch (error) {
    throw new ConfigError('Kubernetes access', [{ path: 'KUBECONFIG', message: describeError(error) }]);
  }
}
