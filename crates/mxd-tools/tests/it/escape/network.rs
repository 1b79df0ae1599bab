//! Talking to somebody: the machine's own servers, other agents, the world.

use super::attempt::{Attempt, Family, Outside};

pub(super) const FAMILY: Family = Family { name: "The network", attempts: ATTEMPTS, ..Family::PLAIN };

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "reach a server of the machine by TCP",
        script: "exec 3<> /dev/tcp/127.0.0.1/$TCP_PORT && timeout 5 cat <&3",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "reach a server of the machine by another of its addresses",
        script: "exec 3<> /dev/tcp/127.1.2.3/$TCP_PORT || exec 3<> /dev/tcp/0.0.0.0/$TCP_PORT && timeout 5 cat <&3",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "ask a name server of the machine",
        script: r#"perl -MSocket -e '
            socket my $socket, AF_INET, SOCK_DGRAM, 0 or die $!;
            connect $socket, pack_sockaddr_in($ENV{UDP_PORT}, inet_aton("127.0.0.1")) or die $!;
            my $question = pack("n6", 7, 0x100, 1, 0, 0, 0) . "\7example\3org\0" . pack("n2", 1, 1);
            send $socket, $question, 0 or die $!;
            alarm 5; recv $socket, my $answer, 512, 0 or die $!; print $answer'"#,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "send a datagram without connecting",
        script: r#"perl -MSocket -e '
            socket my $socket, AF_INET, SOCK_DGRAM, 0 or die $!;
            setsockopt $socket, SOL_SOCKET, SO_RCVTIMEO, pack("l! l!", 0, 50000);
            send $socket, "?", 0, pack_sockaddr_in($ENV{UDP_PORT}, inet_aton("127.0.0.1")) or die $!;
            recv $socket, my $answer, 512, 0; print $answer'"#,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "reach the world",
        script: r#"perl -MSocket -e '
            socket my $socket, AF_INET, SOCK_DGRAM, 0 or die $!;
            print "ESCAPED\n" if connect $socket, pack_sockaddr_in(53, inet_aton("192.0.2.1"))'"#,
        outside: Outside::NotTried("the machine may have no network"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "reach the world by IPv6",
        script: r#"perl -MSocket=:all -e '
            socket my $socket, AF_INET6, SOCK_DGRAM, 0 or die $!;
            print "ESCAPED\n" if connect $socket, pack_sockaddr_in6(53, inet_pton(AF_INET6, "2001:db8::1"))'"#,
        outside: Outside::NotTried("the machine may have no network"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "reach the daemon by its socket",
        script: r#"perl -MSocket -e '
            socket my $socket, AF_UNIX, SOCK_STREAM, 0 or die $!;
            connect $socket, pack_sockaddr_un("$ENV{GROUND}/data/daemon.sock") or die $!;
            print <$socket>'"#,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "reach the daemon by a link to its socket",
        script: r#"ln -s ../../daemon.sock socket; perl -MSocket -e '
            socket my $socket, AF_UNIX, SOCK_STREAM, 0 or die $!;
            connect $socket, pack_sockaddr_un("socket") or die $!;
            print <$socket>'"#,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "reach an abstract socket",
        script: r#"perl -MSocket -e '
            socket my $socket, AF_UNIX, SOCK_STREAM, 0 or die $!;
            connect $socket, pack("S a*", AF_UNIX, "\0$ENV{ABSTRACT}") or die $!;
            print <$socket>'"#,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "open a raw socket",
        script: r#"perl -MSocket -e 'socket my $socket, AF_INET, SOCK_RAW, 1 and print "ESCAPED\n"'"#,
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "open a raw IPv6 socket",
        script: r#"perl -MSocket -e 'socket my $socket, AF_INET6, SOCK_RAW, 58 and print "ESCAPED\n"'"#,
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "listen to all packets",
        script: r#"perl -e 'socket my $socket, 17, 3, 0 and print "ESCAPED\n"'"#,
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "talk to the host of a virtual machine",
        script: r#"perl -e 'socket my $socket, 40, 1, 0 and print "ESCAPED\n"'"#,
        outside: Outside::NotTried("not every kernel has such sockets"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "open a socket of the kernel's ciphers",
        script: r#"perl -e 'socket my $socket, 38, 5, 0 and print "ESCAPED\n"'"#,
        outside: Outside::NotTried("not every kernel has such sockets"),
        ..Attempt::PLAIN
    },
    Attempt {
        // Raising what is up changes nothing.
        name: "change a network device",
        script: r#"perl -e '
            socket my $socket, 16, 3, 0 or die $!;
            send $socket, pack("L S S L L C C S l L L", 32, 16, 5, 1, 0, 0, 0, 0, 1, 1, 1), 0 or die $!;
            recv $socket, my $answer, 256, 0;
            print "ESCAPED\n" if unpack("x16 l", $answer) == 0'"#,
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "hear of the machine's network devices",
        script: r#"perl -e '
            socket my $socket, 16, 3, 0 or die $!;
            send $socket, pack("L S S L L C x3", 20, 18, 0x301, 1, 0, 0), 0 or die $!;
            recv $socket, my $answer, 65536, 0;
            my $count = 0;
            while (length $answer >= 16) {
                my ($size, $kind) = unpack "L S", $answer;
                $count++ if $kind == 16;
                last if $size < 16;
                $answer = substr $answer, ($size + 3) & ~3;
            }
            print "ESCAPED\n" if $count > 1'"#,
        outside: Outside::NotTried("the machine may have no other device than the loopback"),
        ..Attempt::PLAIN
    },
];
