import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after } from 'node:test';

/** A request to the API of a cloud. */
export interface CloudRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface CloudAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: object;
}

/** The API of a cloud in this process, which answers as the test says and ends with its file. */
export async function startFakeCloud(answer: (request: CloudRequest) => CloudAnswer) {
  const requests: CloudRequest[] = [];
  const server = createServer((incoming, response) => {
    void (async () => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, path: url, headers, body: await text(incoming) };
      requests.push(request);
      const { status = 200, headers: more = {}, body = {} } = answer(request);
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body));
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
