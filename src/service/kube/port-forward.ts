/** Connects to a port of a pod through the API server, like `kubectl port-forward`. It is loaded only when a connection is opened: client-node is large. */
import { Duplex, PassThrough } from 'node:stream';
import { PortForward } from '@kubernetes/client-node';
import { describeError } from '../../core/model/errors.ts';
import { loadConfig } from './kubeconfig.ts';
import type { KubeAccessOptions } from './load-kube-access.ts';

/** A port of a pod. */
export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

/** One connection to a port of a pod. */
export interface PodConnection {
  readonly stream: Duplex;
  /** The problem that the node reported, such as that nothing listens on the port; empty if none. */
  problem(): string;
  close(): void;
}

/** Thrown if the API server did not open the connection; `status` is the status of its answer, if there was one. */
export class PortForwardError extends Error {
  override readonly name = 'PortForwardError';
  readonly status: number | undefined;

  constructor(message: string, { status, ...options }: ErrorOptions & { readonly status?: number | undefined } = {}) {
    super(message, options);
    this.status = status;
  }
}

const maxProblem = 500;

/** Opens a connection to a port of a pod. The API server authenticates itself by its certificate, and connects to this pod. Throws PortForwardError. */
export async function connectToPod(options: KubeAccessOptions, { namespace, pod, port }: PodPort): Promise<PodConnection> {
  const [toPod, fromPod, fromNode] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let problem = '';
  fromNode.on('data', (chunk: Buffer) => (problem = `${problem}${chunk.toString('utf8')}`.slice(0, maxProblem)));
  const forward = new PortForward(loadConfig(options));
  const socket = await forward.portForward(namespace, pod, [port], fromPod, fromNode, toPod).catch((error: unknown) => {
    throw refusal(error);
  });
  if (typeof socket === 'function') throw new Error('a connection that is opened again was not asked for');
  socket.addEventListener('close', () => fromPod.end());
  return {
    stream: Duplex.from({ readable: fromPod, writable: toPod }),
    problem: () => problem.trim(),
    close: () => socket.terminate(),
  };
}

/** The error for client-node's rejection, which is an event of the WebSocket with the status only in its text. */
function refusal(error: unknown): PortForwardError {
  const cause = error instanceof Error ? error : (error as { readonly error?: unknown } | null)?.error;
  const message = describeError(cause ?? error);
  const [, status] = /^Unexpected server response: (\d{3})$/.exec(message) ?? [];
  return new PortForwardError(message, { cause, ...(status !== undefined && { status: Number(status) }) });
}
