// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Test} from "forge-std/Test.sol";
import {Token} from "./Token.sol";

contract HostileTest is Test {
    function test_ffi() public {
        string[] memory command = new string[](1);
        command[0] = "id";
        vm.ffi(command);
    }

    function test_file() public view {
        vm.readFile("/etc/passwd");
    }

    function test_env() public view {
        vm.envString("HOME");
    }

    function test_rpc() public {
        vm.createSelectFork("http://127.0.0.1:1");
    }

    function test_forever() public pure {
        while (true) {}
    }

    function test_memory() public pure {
        bytes memory much = new bytes(1 << 28);
        much[0] = 0x01;
    }

    function test_fails() public {
        Token token = new Token(5);
        assertEq(token.totalSupply(), 6, "supply");
    }

    function testFuzz_fails(uint256 number) public pure {
        assertLt(number, 1 << 200);
    }
}
