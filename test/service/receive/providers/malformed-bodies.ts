/** Bodies that no sender sends: none may yield a push, whichever provider reads it. */
const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}${close.repeat(depth)}`;

/** What all providers together look at. */
const fields =
  'type events event_data data domain event_type jpd_origin action component package registry_package push_data repository image images name tag tags ' +
  'registry digest id time specversion source subject updated_tags docker_url detail detail-type message target request timestamp Type Message';

/** A document with the same value in each of the fields. */
const withEverywhere = (value: string) =>
  `{${fields
    .split(' ')
    .map((name) => `"${name}":${value}`)
    .join(',')}}`;

export const malformedBodies: readonly [name: string, body: Buffer][] = (
  [
    ['an empty body', ''],
    ['a space', ' '],
    ['text', 'hello'],
    ['HTML', '<html><body>404</body></html>'],
    ['a form', 'payload=%7B%22events%22%3A%5B%5D%7D'],
    ['half a document', '{"events":[{"action":"push","target":{"repository":"a/b","tag":'],
    ['two documents', '{"events":[]}{"events":[]}'],
    ['a comma too many', '{"events":[],}'],
    ['null', 'null'],
    ['true', 'true'],
    ['a number', '1e999'],
    ['a string', '"push"'],
    ['an empty array', '[]'],
    ['an empty object', '{}'],
    ['an array of everything', '[null,true,1,"a",[],{}]'],
    ['deep arrays', nested('[', ']', 100_000)],
    ['deep objects', `${'{"events":'.repeat(50_000)}null${'}'.repeat(50_000)}`],
    ['deep and never closed', '['.repeat(500_000)],
    ['deep inside a field', `{"type":"PUSH_ARTIFACT","events":[${nested('[', ']', 5_000)}],"event_data":${nested('[', ']', 5_000)}}`],
    ['fields of wrong types', '{"type":1,"specversion":2,"event_data":"x","events":{"0":{}},"data":[]}'],
    ['events of wrong types', '{"events":[null,1,"a",[],{},{"action":1},{"action":"push"},{"action":"push","target":null}]}'],
    ['a target of wrong types', '{"events":[{"action":"push","target":{"repository":1,"tag":{},"digest":[],"url":7},"request":[]}]}'],
    [
      'resources of wrong types',
      '{"type":"PUSH_ARTIFACT","event_data":{"repository":{"repo_full_name":"a/b"},"resources":[null,1,"a",[],{"tag":7}]}}',
    ],
    [
      'resources that are no list',
      '{"type":"PUSH_ARTIFACT","event_data":{"repository":{"repo_full_name":"a/b"},"resources":{"0":{"tag":"1"}}}}',
    ],
    ['no repository', '{"type":"PUSH_ARTIFACT","event_data":{"resources":[{"tag":"1","resource_url":"h.example/a/b:1"}]}}'],
    ['nulls everywhere', '{"type":"PUSH_ARTIFACT","occur_at":null,"event_data":{"resources":null,"repository":null},"events":null}'],
    [
      'huge numbers',
      `{"type":"PUSH_ARTIFACT","occur_at":1e400,"event_data":{"resources":[{"tag":${'9'.repeat(400)}}]},"events":[${'9'.repeat(400)}]}`,
    ],
    [
      'polluting keys',
      '{"__proto__":{"events":[{"action":"push","target":{"repository":"a/b","tag":"1","url":"https://h.example/v2/"}}],"type":"PUSH_ARTIFACT"},"constructor":{"prototype":{"polluted":1}}}',
    ],
    [
      'polluting keys inside',
      '{"type":"PUSH_ARTIFACT","event_data":{"__proto__":{"repository":{"repo_full_name":"a/b"},"resources":[{"tag":"1","resource_url":"h.example/a/b:1"}]}},"events":[{"action":"push","target":{"__proto__":{"repository":"a/b","tag":"1"}}}]}',
    ],
    ['lengths that are no numbers', withEverywhere('{"length":{"toString":1,"valueOf":{}}}')],
    ['lengths that are no numbers, spelt with escapes', withEverywhere('{"length":{"to\\u0053tring":{"length":1}}}')],
    [
      'a key twice, the last one empty',
      '{"type":"PUSH_ARTIFACT","type":"PULL_ARTIFACT","event_data":{"repository":{"repo_full_name":"a/b"},"resources":[{"tag":"1","resource_url":"h/a"}]},"events":[{"action":"push","action":"pull","target":{"repository":"a/b","tag":"1"}}]}',
    ],
    [
      'names that are none',
      '{"type":"PUSH_ARTIFACT","event_data":{"repository":{"repo_full_name":"../../etc"},"resources":[{"tag":"1","resource_url":"h.example/x"}]},"events":[{"action":"push","target":{"repository":"../../etc","tag":"1","url":"https://h.example/"}}]}',
    ],
    [
      'tags that are none',
      '{"type":"PUSH_ARTIFACT","event_data":{"repository":{"repo_full_name":"a/b"},"resources":[{"tag":"a b","resource_url":"h.example/x"},{"tag":"$(id)","resource_url":"h.example/x"}]}}',
    ],
    [
      'names of a megabyte',
      `{"type":"PUSH_ARTIFACT","event_data":{"repository":{"repo_full_name":"${'a/'.repeat(400_000)}b"},"resources":[{"tag":"1","resource_url":"h.example/x"}]}}`,
    ],
    [
      'other fields of wrong types',
      '{"id":{},"action":"push","target":{"repository":[],"tag":1},"request":7,"push_data":{"tag":[]},"repository":{"repo_name":{}},"updated_tags":7,"package":{"name":1},"message":{"data":1},"detail-type":1,"Type":"Notification","Message":{}}',
    ],
    [
      'other polluting keys',
      '{"__proto__":{"docker_url":"h.example/a/b","updated_tags":["1"],"action":"push","target":{"repository":"a/b","tag":"1"},"request":{"host":"h.example"},"push_data":{"tag":"1"},"repository":{"repo_name":"a/b"}}}',
    ],
    [
      'other names that are none',
      '{"docker_url":"h.example/../b","repository":{"repo_name":"../b"},"updated_tags":["1"],"push_data":{"tag":"1"},"action":"push","target":{"repository":"a//b","tag":"1"},"request":{"host":"h.example"}}',
    ],
    [
      'a host that is blank, not Docker Hub',
      '{"action":"push","target":{"repository":"a/b","tag":"1"},"request":{"host":" "},"events":[{"action":"push","target":{"repository":"a/b","tag":"1"},"request":{"host":"https://"}}]}',
    ],
    [
      'other keys twice, the last one empty',
      '{"action":"push","action":"delete","target":{"repository":"a/b","tag":"1"},"request":{"host":"h.example"},"docker_url":"h.example/a/b","updated_tags":["1"],"updated_tags":null}',
    ],
    ['a hundred thousand events', `{"events":[${'{},'.repeat(100_000)}{}]}`],
  ] satisfies [string, string][]
)
  .map(([name, text]): [string, Buffer] => [name, Buffer.from(text)])
  .concat([
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x22, 0xc3, 0x28, 0x7d])],
    ['UTF-16', Buffer.from('{"events":[]}', 'utf16le')],
    ['gzip', Buffer.from('1f8b0800000000000003abae050043bfa6a302000000', 'hex')],
  ]);
