import type { Row } from './row.ts';
import { looks } from './tool.ts';

const machine = (command: string, options: string, more: Partial<Row> & Pick<Row, 'yes' | 'no'>): Row =>
  looks(command, options, {
    why: 'It shows what this machine is doing. What changes something or asks another machine is asked about.',
    ...more,
  });

export const systemRows: readonly Row[] = [
  machine(
    'ps',
    '-e -f -A -a -x -l -p=# -o=<fields> -C=<name> -u=<name> --pid=# --ppid=# --sort=<fields> --no-headers --forest',
    {
      why: 'It lists processes. Their environments (`ps e`) are left out.',
      operands: /^[aux]{1,3}w{0,2}$/,
      most: 1,
      yes: ['ps aux', 'ps -ef', 'ps -p 12 -o pid,etime,cmd --sort=-rss'],
      no: ['ps auxe', 'ps axe', 'ps -o pid,environ', 'ps -p 1 e'],
    },
  ),
  machine('pgrep', '-f -l -a -x -n -o -c -i -u=<name> -P=#', {
    operands: /^[\w./: -]+$/,
    most: 1,
    least: 1,
    yes: ['pgrep -fl "next dev"', 'pgrep -x node'],
    no: ['pkill node', 'pgrep -F /etc/passwd', 'pgrep --pidfile x y', 'pgrep -f x --signal KILL'],
  }),
  machine('lsof', '-i -i= -P -n -t -l -p=# -s= -a', {
    operands: /^(tcp|TCP|udp|UDP)?:\d+$/,
    yes: ['lsof -i :8001 -sTCP:LISTEN -t', 'lsof -nP -iTCP:3000', 'lsof -p 12'],
    no: ['lsof -D b/x', 'lsof -i -Db/x', 'lsof +D /', 'lsof /etc/passwd', 'lsof -F /x', 'lsof -r 1'],
  }),
  machine('ss', '-t -u -l -n -p -a -s -x -4 -6 -H -e -i -o', {
    operands: /^(sport|dport|state|=|:\d+|listening|established|\( *[sd]port = :\d+ *\))$/,
    yes: ['ss -ltnp', 'ss -tln sport = :8080', "ss -ltn '( sport = :3000 )'"],
    no: ['ss -K dst 1.2.3.4', 'ss --kill', 'ss -D /x', 'ss -F evil', 'ss -N x'],
  }),
  machine('netstat', '-t -u -l -n -p -a -r -i -s -4 -6', {
    yes: ['netstat -tlnp'],
    no: ['netstat -c', 'netstat /x'],
  }),
  machine('free', '-h -m -g -b -k -w -t', { yes: ['free -h'], no: ['free -s 1', 'free x'] }),
  machine('top', '-b -n=# -o=<name> -p=# -H', {
    needsAll: ['-b', '-n'],
    yes: ['top -b -n 1', 'top -bn1 -o CPU'],
    no: ['top', 'top -b', 'top -n 1', 'top -b -w /x'],
  }),
  machine('vmstat', '-s -S=k|K|m|M -w -a', { yes: ['vmstat', 'vmstat -s'], no: ['vmstat -p /x', 'vmstat 1'] }),
  machine('vmstat', '-S=k|K|m|M -w -a', {
    operands: /^\d{1,2}$/,
    least: 2,
    most: 2,
    yes: ['vmstat 1 3'],
    no: ['vmstat -p /x', 'vmstat 1 1 1', 'vmstat 1'],
  }),
  ...['lscpu', 'lsblk', 'lsb_release'].map((command) =>
    machine(command, '-a -e -J --json -f -d -s -i -r -c', {
      yes: [command],
      no: [`${command} -s /x`, `${command} --sysroot=/x`],
    }),
  ),
  machine('getconf', '', {
    operands: /^\w+$/,
    least: 1,
    yes: ['getconf _NPROCESSORS_ONLN'],
    no: ['getconf -a x', 'getconf a/b'],
  }),
  ...['systemctl status', 'systemctl is-active', 'systemctl is-enabled', 'systemctl list-units'].map((command) =>
    machine(
      command,
      '--no-pager --user -l --full -n=# --type=<name> --state=<name> -p=<fields> --property=<fields> --all -a --quiet -q',
      {
        operands: /^\w[\w@.:-]*$/,
        yes: [`${command} postgresql --no-pager`],
        no: [
          `${command} -H evil x`,
          `${command} -M x y`,
          `${command} --root=/x`,
          'systemctl stop x',
          'systemctl restart x',
          'systemctl set-environment A=b',
        ],
      },
    ),
  ),
  machine(
    'journalctl',
    '-u=<name> -n=# --lines=# --since= --until= --no-pager -p=<name> -b -k -o=cat|short|short-iso|json --user -r -q -e -x',
    {
      yes: ['journalctl -u postgresql -n 50 --no-pager', 'journalctl --since "10 min ago" -p err'],
      no: [
        'journalctl --vacuum-size=1M',
        'journalctl --rotate',
        'journalctl -D /x',
        'journalctl --file=/x',
        'journalctl -f',
        'journalctl _UID=0',
      ],
    },
  ),
  ...[
    'dpkg -l',
    'dpkg -s',
    'dpkg -L',
    'dpkg-query -W',
    'dpkg -S',
    'rpm -q',
    'rpm -qa',
    'apt list',
    'apt-cache policy',
    'apt-cache show',
    'brew list',
    'conda list',
    'conda env list',
  ].map((command) =>
    machine(command, '--installed --versions --formula --cask --json -a', {
      why: 'It shows what is installed on this machine.',
      operands: /^\w[\w.+*@:-]*$/,
      yes: [command, `${command} zlib1g`],
      no: [
        `${command} --root=/x zlib`,
        `${command} --admindir=/x`,
        `${command} -c evil`,
        'dpkg -i x.deb',
        'apt install x',
        'brew install x',
        'rpm -e x',
      ],
    }),
  ),
  machine('jps', '-l -m -v -q -V', { yes: ['jps -lm'], no: ['jps evil.example', 'jps -J-agentpath:/x'] }),
  machine('jstat', '-gc -gcutil -class -compiler -gccapacity', {
    oneDash: true,
    operands: /^\d+(ms|s)?$/,
    most: 3,
    yes: ['jstat -gcutil 12 1000 5'],
    no: ['jstat -gc 1@evil.example', 'jstat -J-x'],
  }),
];
