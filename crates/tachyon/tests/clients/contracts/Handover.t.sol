// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Test} from "forge-std/Test.sol";

contract HandoverTest is Test {
    function low(string memory text) private pure returns (string memory) {
        return vm.toLowercase(text);
    }

    function test_passes_here() public pure {
        assertEq(uint256(1), 1);
    }

    function test_passes_there() public pure {
        assertEq(low("ABC"), "abc");
    }

    function test_fails_there() public pure {
        assertEq(low("ABC"), "abd");
    }

    function testFuzz_is_handed_over(uint256 number) public pure {
        assertEq(low("ABC"), "abc");
        assertEq(number, number);
    }

    function test_environment() public view {
        vm.envString("SECRET_OF_THE_SERVER");
    }

    function test_environment_behind_another() public view {
        low("A");
        revert(vm.envString("SECRET_OF_THE_SERVER"));
    }

    function test_file_behind_another() public view {
        low("A");
        revert(vm.readFile("/etc/passwd"));
    }

    function test_network_behind_another() public {
        low("A");
        vm.createSelectFork("http://127.0.0.1:65535");
    }
}
