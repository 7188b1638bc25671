/** Whoever has many addresses takes the connections of nobody else. A real server is in `test/conversion/conversion-intake.test.ts`; it has no IPv6 network. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { type Server, Socket } from 'node:net';
import { test } from 'node:test';
import { boundConnections } from '../../../src/core/async/bound-connections.ts';

class SocketFrom extends Socket {
  override readonly remoteAddress: string;
  constructor(address: string) {
    super();
    this.remoteAddress = address;
  }
}

function open(max: number) {
  const server = new EventEmitter();
  boundConnections(server as unknown as Pick<Server, 'on'>, max);
  return (address: string) => {
    const socket = new SocketFrom(address);
    server.emit('connection', socket);
    return socket;
  };
}

test('connections from ever new addresses of one network close none of another network', () => {
  const connect = open(20);
  const browser = [connect('2001:db8:0:1::1'), connect('2001:db8:0:1::1'), connect('192.0.2.1'), connect('192.0.2.1')];
  const flood = Array.from({ length: 100 }, (_, index) => connect(`2001:db8::${index.toString(16)}:1`));
  assert.deepEqual(
    browser.map(({ destroyed }) => destroyed),
    [false, false, false, false],
  );
  assert.equal(flood.filter(({ destroyed }) => destroyed).length, 84);
});

test('a flood from one address closes none of its neighbours', () => {
  const connect = open(20);
  const neighbours = Array.from({ length: 5 }, (_, index) => connect(`2001:db8::${index}`));
  for (let count = 0; count < 100; count++) connect('2001:db8::f');
  assert.ok(neighbours.every(({ destroyed }) => !destroyed));
});
