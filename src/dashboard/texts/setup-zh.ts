import type { Texts } from './en.ts';

export const setupZh: Texts['receiving'] = {
  copy: '复制',
  copied: '已复制',
  steps: (provider) => `接入方法（${provider}）`,
  states: {
    delivers: '正常通知',
    refused: '最近一次投递被拒绝',
    waits: '等待第一次投递',
  },
  answers: {
    '200': '已接受；其中没有推送',
    '202': '已接受',
    '400': '无法读取',
    '401': '密钥不一致：请比较发送方的密钥与接收端的密钥',
    '404': 'URL 不正确',
    '408': '请求体到达太慢',
    '413': '过大',
    '415': '不是 JSON',
    '429': '请求过多：请提高该接收端的 requestsPerMinute',
    '431': '请求头过大',
    '503': 'Redis 未能保存：发送方需要重试',
  },
  lastIgnored: '最近忽略的',
  lastRefused: '最近拒绝的',
};

export const doctorZh: Texts['doctor'] = {
  title: '安装检查（doctor）',
  allWell: '没有需要处理的问题。',
  needs: (count) => `${count} 项需要处理。`,
  checked: '检查于',
  certificates: '证书',
  others: (count) => `其余 ${count} 项：正常或未检查`,
  levels: { ok: '正常', failed: '需要处理', warning: '请查看', skipped: '未检查' },
};

export const notifyingZh: Texts['notifying'] = {
  title: '通知目标',
  none: '没有通知目标。',
  target: '目标',
  kind: '类型',
  state: '状态',
  lastAccepted: '最近接受',
  lastFailed: '最近失败',
  test: '发送测试',
  testOf: (target) => `向 ${target} 发送测试`,
  byCommand: '在有配置的地方，可用命令发送测试：',
  accepted: (target) => `${target} 已接受测试消息。`,
  notAccepted: (target) => `${target} 未接受测试消息：`,
  reasons: {
    Configured: '尚无消息',
    Delivered: '接受消息',
    Suspended: '已暂停',
    InvalidTarget: '无法理解',
    SecretNotUsable: 'Secret 不可用',
    HostNotAllowed: '主机不被允许',
    TooManyTargets: '数量超限',
    NotAccepted: '失败',
  },
};

export const runningZh: Texts['ofRunning'] = {
  title: '正在运行',
  kubernetes: 'API server',
  process: '进程',
  roles: '角色',
  version: '版本',
  started: '启动于',
  otherVersion: '版本不同',
  withoutRedis: '只有 convert 和 web 角色的进程不使用 Redis，因此不在列表中。',
};
