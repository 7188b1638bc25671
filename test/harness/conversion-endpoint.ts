import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server as HttpsServer } from 'node:https';
import { freePort } from './free-port.ts';
import { makeKubeKeys } from './kube-keys.ts';
import { tempFolder } from './temp-folder.ts';

/** What the endpoint answers to the parsed body of a request. */
type Answer = { status: number; body: unknown } | { status: number; text: string };
export type AnswerReview = (body: unknown) => Answer | Promise<Answer>;

/** A conversion webhook in this process, with a certificate of its own authority. */
export type ConversionEndpoint = {
  readonly url: string;
  readonly caFile: string;
  readonly caPem: string;
  /** How many reviews it has answered. */
  reviews(): number;
  /** Nobody listens any more; `start` listens on the same port again. */
  stop(): Promise<void>;
  start(): Promise<void>;
};

/** Starts it on 127.0.0.1, or on the address given. */
export async function startConversionEndpoint(answer: AnswerReview, host = '127.0.0.1'): Promise<ConversionEndpoint> {
  const { caPem, files } = await makeKubeKeys(tempFolder('conversion'));
  const credentials = { cert: readFileSync(files.serverCertificate), key: readFileSync(files.serverKey) };
  let reviews = 0;
  const port = await freePort();
  let server: HttpsServer | undefined;
  const start = async () => {
    server = createServer(credentials, (request, response) => {
      let text = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => (text += chunk));
      request.on('end', () => {
        reviews += 1;
        const respond = async () => {
          const answered = await answer(JSON.parse(text));
          const body = 'text' in answered ? answered.text : JSON.stringify(answered.body);
          response.writeHead(answered.status, { 'content-type': 'application/json' }).end(body);
        };
        void respond();
      });
    });
    // The API server keeps its connections, and sends no review a second time.
    server.keepAliveTimeout = 120_000;
    server.listen(port, host);
    await once(server, 'listening');
  };
  await start();
  return {
    url: `https://${host}:${port}/convert`,
    caFile: files.ca,
    caPem,
    reviews: () => reviews,
    start,
    async stop() {
      if (!server) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      server = undefined;
      await closed;
    },
  };
}
